"""A logged request as a chat completion, which the page can ask again as whoever looks at it."""

from typing import Any

from pydantic import ValidationError

from backend.api.anthropic.messages import chat_body as chat_of_message
from backend.api.responses.items import chat_body as chat_of_response
from backend.api.schemas.anthropic import MessagesCreate
from backend.api.schemas.responses import ResponseCreate
from backend.platform.errors import ParleyError

_OWN_TO_THE_CALL = ("stream", "stream_options", "store", "metadata", "user", "safety_identifier")


def chat_of(path: str, request: dict[str, Any]) -> dict[str, Any] | None:
    """The body of the same chat; None where it is none, or reads what is not in the request."""
    try:
        chat = _chat_of(path, request)
    except (ValidationError, ParleyError):
        return None
    if chat is None:
        return None
    return {name: value for name, value in chat.items() if name not in _OWN_TO_THE_CALL}


def _chat_of(path: str, request: dict[str, Any]) -> dict[str, Any] | None:
    if path == "/v1/chat/completions":
        return request
    if path == "/v1/messages":
        body = chat_of_message(MessagesCreate.model_validate(request))
        return body.model_dump(by_alias=True, exclude_none=True)
    if path == "/v1/responses":
        if request.get("previous_response_id") or request.get("conversation"):
            return None
        body = chat_of_response(ResponseCreate.model_validate(request), [])
        return body.model_dump(by_alias=True, exclude_none=True)
    return None
