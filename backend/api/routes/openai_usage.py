"""`/v1/organization/usage/…`, in OpenAI's shapes.

`completions` has what the ledger has, without embeddings, transcriptions and speech, which have
pages of their own: each generation is in one of them. Moderations are free, and not metered;
images, vector stores and tools of the server do not exist here: their pages are empty, so that a
program that adds all of them up finds what there is.
Source: OpenAI API reference, "Usage".
"""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import BaseModel, Field

from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.generation.request import Endpoint
from backend.generation.selectors import EndpointUsage, endpoint_usage
from backend.platform.database import in_database
from backend.platform.json import encode_json
from billing.openai_api import Filters, Page, PageOut, Time, listed, listed_ids
from billing.permissions import require_manager
from billing.usage_buckets import (
    BucketPage,
    UsageResult,
    bucket_page,
    check_groups,
    usage_buckets,
)

router = Router(tags=["organization"])

# Of what does not exist, or is not metered.
EMPTY = (
    "moderations",
    "images",
    "vector_stores",
    "code_interpreter_sessions",
    "file_search_calls",
    "web_search_calls",
)
_GROUPS = ("project_id", "user_id", "api_key_id", "model")


@dataclass(frozen=True, slots=True)
class Counted:
    """What one page counts: of which endpoints, in which column, under which name."""

    kind: str
    endpoints: tuple[Endpoint, ...]
    column: str
    name: str


EMBEDDINGS = Counted("embeddings", ("embedding",), "input_tokens", "input_tokens")
TRANSCRIPTIONS = Counted(
    "audio_transcriptions", ("transcription", "translation"), "audio_seconds", "seconds"
)
SPEECHES = Counted("audio_speeches", ("speech",), "spoken_characters", "characters")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request restricts and groups by; the client's `name[]=…` and ours in one."""

    group_by: list[str]
    project_ids: list[UUID]
    user_ids: list[UUID]
    api_key_ids: list[UUID]
    models: list[str]

    @classmethod
    def of(cls, request: AuthenticatedRequest, filters: Filters) -> "Wanted":
        """Raises InvalidRequest."""
        return cls(
            group_by=filters.group_by + listed(request, "group_by"),
            project_ids=filters.project_ids + listed_ids(request, "project_ids"),
            user_ids=filters.user_ids + listed_ids(request, "user_ids"),
            api_key_ids=filters.api_key_ids + listed_ids(request, "api_key_ids"),
            models=filters.models + listed(request, "models"),
        )

    def group_of(self, used: EndpointUsage | UsageResult) -> tuple[UUID | str | None, ...]:
        return tuple(getattr(used, name) for name in self.group_by)


class Span(BaseModel):
    """When, and in which pages."""

    start_time: Time
    end_time: Time | None = None
    bucket_width: Literal["1m", "1h", "1d"] = "1d"
    limit: Annotated[int | None, Field()] = None
    page: Page | None = None

    def buckets(self) -> BucketPage:
        return bucket_page(**self.model_dump())


@router.get("/usage/completions", response=PageOut)
async def usage_of_completions(
    request: AuthenticatedRequest, span: Query[Span], filters: Query[Filters]
) -> HttpResponse:
    """Tokens and requests in buckets of time, those of the pages beside it not counted.

    `group_by`: project_id, user_id, api_key_id, model.
    """
    content = await in_database(
        _completions_page, request.auth, span.buckets(), Wanted.of(request, filters)
    )
    return HttpResponse(content, content_type="application/json")


@router.get("/usage/embeddings", response=PageOut)
async def usage_of_embeddings(
    request: AuthenticatedRequest, span: Query[Span], filters: Query[Filters]
) -> PageOut:
    """Tokens and requests of embeddings.

    `group_by`: project_id, user_id, api_key_id, model.
    """
    return await _page(request, span, filters, EMBEDDINGS)


@router.get("/usage/audio_transcriptions", response=PageOut)
async def usage_of_audio_transcriptions(
    request: AuthenticatedRequest, span: Query[Span], filters: Query[Filters]
) -> PageOut:
    """Begun seconds of recordings that were transcribed or translated, and requests.

    `group_by`: project_id, user_id, api_key_id, model.
    """
    return await _page(request, span, filters, TRANSCRIPTIONS)


@router.get("/usage/audio_speeches", response=PageOut)
async def usage_of_audio_speeches(
    request: AuthenticatedRequest, span: Query[Span], filters: Query[Filters]
) -> PageOut:
    """Characters of texts that were spoken, and requests.

    `group_by`: project_id, user_id, api_key_id, model.
    """
    return await _page(request, span, filters, SPEECHES)


async def _page(
    request: AuthenticatedRequest, span: Span, filters: Filters, counted: Counted
) -> PageOut:
    require_manager(request.auth)
    page, wanted = span.buckets(), Wanted.of(request, filters)
    check_groups(wanted.group_by, _GROUPS)
    return _out(page, await in_database(_used, request.auth, page, wanted, counted), counted)


async def usage_of_nothing(request: AuthenticatedRequest, span: Query[Span]) -> PageOut:
    """Always empty: there is none of it here, or it is free and not metered."""
    require_manager(request.auth)
    return _out(span.buckets(), [], EMBEDDINGS)


for _kind in EMPTY:
    router.add_api_operation(
        f"/usage/{_kind}",
        ["GET"],
        usage_of_nothing,
        response=PageOut,
        operation_id=f"usage_of_{_kind}",
    )


def _used(
    principal: Principal, page: BucketPage, wanted: Wanted, counted: Counted
) -> list[EndpointUsage]:
    return endpoint_usage(
        endpoints=counted.endpoints,
        column=counted.column,
        organization_id=principal.organization_id,
        start=page.start,
        end=page.page_end,
        width=page.width,
        group_by=wanted.group_by,
        only={
            "project_id": wanted.project_ids,
            "user_id": wanted.user_ids,
            "api_key_id": wanted.api_key_ids,
            "model": wanted.models,
        },
    )


def _completions_page(principal: Principal, page: BucketPage, wanted: Wanted) -> bytes:
    """A `PageOut` as JSON, not by way of its schema: a large customer's month by model and key
    has thousands of results, and the event loop serves others meanwhile."""
    require_manager(principal)
    check_groups(wanted.group_by, _GROUPS)
    # Read before the ledger: what ends between the two is counted too much for a moment, not
    # taken off without being there.
    elsewhere = {
        counted.kind: {
            (used.start, wanted.group_of(used)): used
            for used in _used(principal, page, wanted, counted)
        }
        for counted in (EMBEDDINGS, TRANSCRIPTIONS, SPEECHES)
    }
    data = []
    for start, results in usage_buckets(principal=principal, page=page, **asdict(wanted)):
        rest = results
        for kind, used in elsewhere.items():
            rest = [_without(one, used.get((start, wanted.group_of(one))), kind) for one in rest]
        data.append(
            {
                "object": "bucket",
                "start_time": int(start.timestamp()),
                "end_time": int((start + page.width).timestamp()),
                "results": [_completions_result(one) for one in rest if one.num_model_requests],
            }
        )
    more = page.next_page
    return encode_json(
        {"object": "page", "data": data, "has_more": more is not None, "next_page": more}
    )


def _without(all_of_it: UsageResult, other: EndpointUsage | None, kind: str) -> UsageResult:
    """Of the others, embeddings alone have tokens."""
    if other is None:
        return all_of_it
    tokens = other.quantity if kind == EMBEDDINGS.kind else 0
    return replace(
        all_of_it,
        input_tokens=max(all_of_it.input_tokens - tokens, 0),
        num_model_requests=max(all_of_it.num_model_requests - other.requests, 0),
    )


def _completions_result(used: UsageResult) -> dict[str, Any]:
    return {
        "object": "organization.usage.completions.result",
        "input_tokens": used.input_tokens,
        "input_cached_tokens": used.input_cached_tokens,
        "input_image_tokens": used.input_image_tokens,
        "input_audio_tokens": 0,
        "output_tokens": used.output_tokens,
        "output_audio_tokens": 0,
        "num_model_requests": used.num_model_requests,
        "project_id": used.project_id,
        "user_id": used.user_id,
        "api_key_id": used.api_key_id,
        "model": used.model,
        "batch": None,
    }


def _out(page: BucketPage, used: list[EndpointUsage], counted: Counted) -> PageOut:
    return PageOut(
        data=[
            {
                "object": "bucket",
                "start_time": int(start.timestamp()),
                "end_time": int((start + page.width).timestamp()),
                "results": [_result(each, counted) for each in used if each.start == start],
            }
            for start in page.starts()
        ],
        has_more=page.next_page is not None,
        next_page=page.next_page,
    )


def _result(used: EndpointUsage, counted: Counted) -> dict[str, str | int | None]:
    return {
        "object": f"organization.usage.{counted.kind}.result",
        counted.name: used.quantity,
        "num_model_requests": used.requests,
        "project_id": _text(used.project_id),
        "user_id": _text(used.user_id),
        "api_key_id": _text(used.api_key_id),
        "model": used.model,
    }


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)
