"""From the body of a response to the gateway's GenerationRequest."""

from dataclasses import replace
from typing import Any, Literal

from backend.accounts.principal import Principal
from backend.api.openai_requests import from_chat
from backend.api.responses.items import chat_body, name_field
from backend.api.schemas.responses import ResponseCreate
from backend.generation.admission.estimate import input_estimate
from backend.generation.pools.config import load_pools
from backend.generation.request import GenerationRequest
from backend.platform.errors import InvalidRequest

_ROOM_FOR_ANSWER = 256


def from_response(
    body: ResponseCreate,
    history: list[dict[str, Any]],
    *,
    principal: Principal,
    request_id: str,
    client_hash: str,
) -> GenerationRequest:
    """The generation of a response. With `truncation` `auto` the oldest turns are left out until
    the rest is likely to fit.

    Args:
        history: the chat's messages before its input.
    Raises:
        ModelNotFound, InvalidRequest: as `from_chat`.
    """
    while True:
        try:
            chat = from_chat(
                chat_body(body, history),
                principal=principal,
                request_id=request_id,
                client_hash=client_hash,
            )
        except InvalidRequest as error:
            name_field(error)
            raise
        pool = load_pools().find(body.model)
        too_long = input_estimate(chat) + _ROOM_FOR_ANSWER > pool.context_window
        if body.truncation != "auto" or not too_long or not history:
            break
        history = _without_first_turn(history)
    return replace(
        chat,
        stream_usage=True,
        stores_answer=body.is_stored,
        retention_days=None if body.is_stored else 0,
        on_disconnect=_on_disconnect(body),
    )


def _without_first_turn(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls go with their results: a turn lasts until the next message of a user."""
    later = [at for at, message in enumerate(history) if at and message["role"] == "user"]
    return history[later[0] :] if later else []


def _on_disconnect(body: ResponseCreate) -> Literal["cancel", "grace", "go_on"]:
    if body.background:
        return "go_on"
    return "grace" if body.is_stored or body.conversation is not None else "cancel"
