"""`/v1/organization/usage/…` beside `completions`, in OpenAI's shapes.

`embeddings` has figures. Moderations are free, and not metered; images, audio, vector stores and
tools of the server do not exist here: their pages are empty, so that a program that adds all of
them up finds what there is.
Source: OpenAI API reference, "Usage".
"""

from typing import Annotated, Literal
from uuid import UUID

from ninja import Query, Router
from pydantic import BaseModel, Field

from backend.accounts.principal import AuthenticatedRequest
from backend.generation.selectors import EmbeddingUsage, embedding_usage
from backend.platform.database import in_database
from billing.openai_api import Filters, Page, PageOut, Time, listed, listed_ids
from billing.permissions import require_manager
from billing.usage_buckets import BucketPage, bucket_page, check_groups

router = Router(tags=["organization"])

# Of what does not exist, or is not metered.
EMPTY = (
    "moderations",
    "images",
    "audio_speeches",
    "audio_transcriptions",
    "vector_stores",
    "code_interpreter_sessions",
    "file_search_calls",
    "web_search_calls",
)
_GROUPS = ("project_id", "user_id", "api_key_id", "model")


class Span(BaseModel):
    """When, and in which pages."""

    start_time: Time
    end_time: Time | None = None
    bucket_width: Literal["1m", "1h", "1d"] = "1d"
    limit: Annotated[int | None, Field()] = None
    page: Page | None = None

    def buckets(self) -> BucketPage:
        return bucket_page(**self.model_dump())


@router.get("/usage/embeddings", response=PageOut)
async def usage_of_embeddings(
    request: AuthenticatedRequest, span: Query[Span], filters: Query[Filters]
) -> PageOut:
    """Tokens and requests of embeddings, which `usage/completions` counts among all others.

    `group_by`: project_id, user_id, api_key_id, model.
    """
    require_manager(request.auth)
    page = span.buckets()
    groups = filters.group_by + listed(request, "group_by")
    check_groups(groups, _GROUPS)
    used = await in_database(
        embedding_usage,
        organization_id=request.auth.organization_id,
        start=page.start,
        end=page.page_end,
        width=page.width,
        group_by=groups,
        only={
            "project_id": filters.project_ids + listed_ids(request, "project_ids"),
            "user_id": filters.user_ids + listed_ids(request, "user_ids"),
            "api_key_id": filters.api_key_ids + listed_ids(request, "api_key_ids"),
            "model": filters.models + listed(request, "models"),
        },
    )
    return _out(page, used)


async def usage_of_nothing(request: AuthenticatedRequest, span: Query[Span]) -> PageOut:
    """Always empty: there is none of it here, or it is free and not metered."""
    require_manager(request.auth)
    return _out(span.buckets(), [])


for _kind in EMPTY:
    router.add_api_operation(
        f"/usage/{_kind}",
        ["GET"],
        usage_of_nothing,
        response=PageOut,
        operation_id=f"usage_of_{_kind}",
    )


def _out(page: BucketPage, used: list[EmbeddingUsage]) -> PageOut:
    return PageOut(
        data=[
            {
                "object": "bucket",
                "start_time": int(start.timestamp()),
                "end_time": int((start + page.width).timestamp()),
                "results": [_result(each) for each in used if each.start == start],
            }
            for start in page.starts()
        ],
        has_more=page.next_page is not None,
        next_page=page.next_page,
    )


def _result(used: EmbeddingUsage) -> dict[str, str | int | None]:
    return {
        "object": "organization.usage.embeddings.result",
        "input_tokens": used.input_tokens,
        "num_model_requests": used.requests,
        "project_id": _text(used.project_id),
        "user_id": _text(used.user_id),
        "api_key_id": _text(used.api_key_id),
        "model": used.model,
    }


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)
