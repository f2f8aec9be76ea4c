"""Conversations out and in: one or all as files, those of other products as ours."""

from collections.abc import AsyncIterator
from typing import Literal, TypeVar
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from ninja import Query, Router
from pydantic import Field

from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.api.kept_text_check import instructions_refuse
from backend.api.schemas.base import JsonObject, RequestModel, ResponseModel
from backend.conversations import exports, imports
from backend.generation.pools.config import load_pools
from backend.platform.database import in_database
from backend.platform.errors import NotFound
from backend.platform.json import encode_json

router = Router(tags=["conversations"])

Answer = TypeVar("Answer", HttpResponse, StreamingHttpResponse)


class ImportBody(RequestModel):
    conversations: list[JsonObject] = Field(
        min_length=1,
        max_length=imports.MAX_AT_ONCE,
        description="As they stand in ChatGPT's or Claude's `conversations.json`, in Open WebUI's"
        " export, or in ours.",
    )


class RefusedOut(ResponseModel):
    place: int = Field(description="In the list of the request, from 0.")
    reason: str


class ImportOut(ResponseModel):
    imported: int
    present: int = Field(description="They had been imported before.")
    refused: list[RefusedOut]


@router.get("/export", response={200: None})
async def export_all(request: AuthenticatedRequest) -> StreamingHttpResponse:
    """All your conversations as one JSON file."""
    ids = await in_database(exports.exportable_ids, principal=request.auth)
    response = StreamingHttpResponse(_all_of(request.auth, ids), content_type="application/json")
    return _as_file(response, "parley-chats.json")


@router.get("/{uuid:conversation_id}/export", response={200: None})
async def export_one(
    request: AuthenticatedRequest,
    conversation_id: UUID,
    form: Literal["json", "markdown"] = Query("markdown", alias="format"),
) -> HttpResponse:
    """One conversation: the shown branch as Markdown, or all branches as JSON."""
    if form == "markdown":
        text = await in_database(
            exports.conversation_markdown, principal=request.auth, conversation_id=conversation_id
        )
        response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
        return _as_file(response, "parley-chat.md")
    chat = await in_database(
        exports.conversation_export, principal=request.auth, conversation_id=conversation_id
    )
    body = encode_json({"format": exports.FORMAT, "conversations": [chat]})
    return _as_file(HttpResponse(body, content_type="application/json"), "parley-chat.json")


@router.post("/import", response=ImportOut)
async def import_some(request: AuthenticatedRequest, body: ImportBody) -> ImportOut:
    """Take over conversations of an export, once each. Larger files in several requests."""
    result = await in_database(
        imports.conversations_import,
        principal=request.auth,
        chats=body.conversations,
        model=load_pools().models[0].id,
        refuse=instructions_refuse,
    )
    return ImportOut(
        imported=result.imported,
        present=result.present,
        refused=[RefusedOut(place=place, reason=reason) for place, reason in result.refused],
    )


async def _all_of(principal: Principal, ids: list[UUID]) -> AsyncIterator[bytes]:
    """One conversation in memory at a time."""
    yield b'{"format":' + encode_json(exports.FORMAT) + b',"conversations":['
    separator = b""
    for conversation_id in ids:
        try:
            chat = await in_database(
                exports.conversation_export, principal=principal, conversation_id=conversation_id
            )
        except NotFound:
            continue  # deleted since the list was made
        yield separator + encode_json(chat)
        separator = b","
    yield b"]}"


def _as_file(response: Answer, name: str) -> Answer:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
