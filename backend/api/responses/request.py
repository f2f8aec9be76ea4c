"""From the body of a response to the gateway's GenerationRequest."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from backend.accounts.principal import Principal
from backend.api.openai_requests import from_chat
from backend.api.responses.items import chat_body, name_field
from backend.api.schemas.responses import ResponseCreate
from backend.generation.admission.estimate import input_estimate
from backend.generation.admission.fallback import holds, narrowed, needed_capabilities
from backend.generation.gateway import Gateway
from backend.generation.pools.config import PoolConfig, load_pools
from backend.generation.request import GenerationRequest
from backend.platform.errors import InvalidRequest

_ROOM_FOR_ANSWER = 256


@dataclass(frozen=True, slots=True)
class FromResponse:
    """`left_out`: messages of the history that the generation does not read."""

    wanted: GenerationRequest
    left_out: int


async def for_who_answers(
    gateway: Gateway, body: ResponseCreate, history: list[dict[str, Any]], **caller: Any
) -> FromResponse:
    """`from_response`; with `truncation` `auto` and while the model takes no requests, for the
    widest window of those that stand in for it and can do what is asked."""
    made = from_response(body, history, **caller)
    if body.truncation != "auto" or not history:
        return made
    asked_for, wanted = gateway.pools.find(body.model), made.wanted
    needs = needed_capabilities(wanted)
    pool = await narrowed(gateway.pools, gateway.queues, asked_for, wanted.principal, needs)
    return made if pool is asked_for else from_response(body, history, stand_in=pool, **caller)


def from_response(
    body: ResponseCreate,
    history: list[dict[str, Any]],
    *,
    principal: Principal,
    request_id: str,
    client_hash: str,
    stand_in: PoolConfig | None = None,
) -> FromResponse:
    """The generation of a response. With `truncation` `auto` the oldest turns are left out until
    the rest is likely to fit.

    Args:
        history: the chat's messages before its input.
        stand_in: a model with a narrower window than the one asked for, which is to hold it too.
    Raises:
        ModelNotFound, InvalidRequest: as `from_chat`.
    """
    messages = len(history)
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
        too_long = too_long or (stand_in is not None and not holds(stand_in, chat))
        if body.truncation != "auto" or not too_long or not history:
            break
        history = _without_first_turn(history)
    wanted = replace(
        chat,
        stream_usage=True,
        stores_answer=body.is_stored,
        retention_days=None if body.is_stored else 0,
        on_disconnect=_on_disconnect(body),
    )
    return FromResponse(wanted, messages - len(history))


def _without_first_turn(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls go with their results: a turn lasts until the next message of a user."""
    later = [at for at, message in enumerate(history) if at and message["role"] == "user"]
    return history[later[0] :] if later else []


def _on_disconnect(body: ResponseCreate) -> Literal["cancel", "grace", "go_on"]:
    if body.background:
        return "go_on"
    return "grace" if body.is_stored or body.conversation is not None else "cancel"
