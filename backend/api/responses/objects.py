"""The `response` object, as OpenAI has it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from backend.api.schemas.responses import ResponseCreate
from backend.generation.models import GenerationState
from backend.generation.usage import Usage
from backend.platform.errors import NotFound, ParleyError

PREFIX = "resp_"


def response_id(generation_id: UUID) -> str:
    return f"{PREFIX}{generation_id.hex}"


def generation_id_of(text: str) -> UUID:
    """Raises NotFound: it is no id of a response."""
    digits = text.removeprefix(PREFIX)
    if digits == text or len(digits) != 32 or not digits.isalnum() or not digits.isascii():
        raise not_found(text)
    try:
        return UUID(hex=digits)
    except ValueError:
        raise not_found(text) from None


def not_found(text: str) -> NotFound:
    return NotFound(f"Response with id '{text[:64]}' not found.")


def shown_tier(asked: str | None) -> str:
    """The tier that a request is served in."""
    return "default" if asked in (None, "auto") else asked


def parameters(body: ResponseCreate) -> dict[str, Any]:
    """What a response says of its request."""
    return {
        "background": bool(body.background),
        "conversation": {"id": body.conversation_id} if body.conversation_id else None,
        "instructions": body.instructions,
        "max_output_tokens": body.max_output_tokens,
        "max_tool_calls": body.max_tool_calls,
        "metadata": body.metadata or {},
        "model": body.model,
        "parallel_tool_calls": body.parallel_tool_calls is not False,
        "previous_response_id": body.previous_response_id,
        "prompt_cache_key": body.prompt_cache_key,
        "reasoning": {
            "effort": body.reasoning.effort if body.reasoning else None,
            "summary": None,
        },
        "safety_identifier": body.safety_identifier,
        "service_tier": shown_tier(body.service_tier),
        "store": body.is_stored,
        "temperature": body.temperature,
        "text": _text(body),
        "tool_choice": _dumped(body.tool_choice) or "auto",
        "tools": [_dumped(tool) for tool in body.tools or ()],
        "top_logprobs": body.top_logprobs or 0,
        "top_p": body.top_p,
        "truncation": body.truncation or "disabled",
        "user": body.user,
    }


def response_object(
    generation_id: UUID,
    created_at: datetime,
    asked: dict[str, Any],
    *,
    status: str,
    output: list[dict[str, Any]] | None = None,
    usage: Usage | None = None,
    error: ParleyError | None = None,
    incomplete: str | None = None,
    model: str = "",
) -> dict[str, Any]:
    """
    Args:
        asked: see `parameters`.
        incomplete: why it is.
        model: that answers, where it is known: another one may stand in for the one asked for.
    """
    return {
        "id": response_id(generation_id),
        "object": "response",
        "created_at": int(created_at.timestamp()),
        "status": status,
        "error": None if error is None else {"code": "server_error", "message": error.message},
        "incomplete_details": None if incomplete is None else {"reason": incomplete},
        "output": output or [],
        "usage": None if usage is None else usage_object(usage),
        **asked,
        **({"model": model} if model else {}),
    }


def usage_object(usage: Usage) -> dict[str, Any]:
    images = {"image_tokens": usage.image_tokens} if usage.image_tokens else {}
    reused = {"cached_tokens": usage.cached_output_tokens} if usage.cached_output_tokens else {}
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_input_tokens,
            "cache_write_tokens": 0,
            **images,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens, **reused},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def status_of(state: str, finish_reason: str) -> tuple[str, str | None]:
    """The status of a response, and why it is incomplete, from its generation's end."""
    if state == GenerationState.QUEUED:
        return "queued", None
    if state == GenerationState.RUNNING:
        return "in_progress", None
    if state == GenerationState.CANCELLED:
        return "cancelled", None
    if state == GenerationState.FAILED:
        return "failed", None
    if state == GenerationState.BLOCKED or finish_reason == "content_filter":
        return "incomplete", "content_filter"
    if finish_reason in {"length", "loop"}:
        return "incomplete", "max_output_tokens"
    return "completed", None


def _text(body: ResponseCreate) -> dict[str, Any]:
    wanted = body.text.format if body.text else None
    shown = {"type": "text"} if wanted is None else wanted.model_dump(by_alias=True)
    return {"format": shown, "verbosity": (body.text and body.text.verbosity) or "medium"}


def _dumped(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else value
