"""`record`: the only writer of the audit log."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import structlog

from backend.audit.actions import Action
from backend.audit.context import origin_get
from backend.audit.models import ActorKind, AuditEvent

Detail = str | int | float | bool | None | list[str]

_MAX_DETAIL = 500
_SECRET = re.compile(r"secret|password|token|credential|cookie|private", re.IGNORECASE)


class Caller(Protocol):
    """Who acts: a `Principal`, or an `Actor`."""

    @property
    def user_id(self) -> UUID | None: ...
    @property
    def key_id(self) -> UUID | None: ...


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts without a principal: a user by themselves, staff, an identity provider, a task."""

    user_id: UUID | None = None
    key_id: UUID | None = None
    kind: ActorKind | None = None


SYSTEM = Actor(kind=ActorKind.SYSTEM)


def staff(user_id: UUID) -> Actor:
    """A member of the operator's staff: the organization is told that, not their name."""
    return Actor(user_id=user_id, kind=ActorKind.STAFF)


def record(
    action: Action,
    *,
    organization_id: UUID | None,
    actor: Caller,
    target: tuple[str, object] | None = None,
    project_id: UUID | None = None,
    details: Mapping[str, Detail] | None = None,
) -> AuditEvent:
    """Write down what `actor` did, in the caller's transaction: both are stored, or neither.

    Address, user agent and request id are those of the running request.

    Args:
        organization_id: in whose log it stands; None where the account is in no organization.
        actor: the principal of the request, or an `Actor`.
        target: what it was done to: its kind (`user`, `api_key`, `project`, …) and its id.
        details: what changed, small and flat, such as `{"role": "admin"}`. Texts are cut at 500
            characters. Never content, a secret, or a person's name or address.
    Raises:
        ValueError: a detail has the name of a secret.
    """
    kept = {name: _clipped(name, value) for name, value in (details or {}).items()}
    origin = origin_get()
    target_type, target_id = target or ("", "")
    return AuditEvent.objects.create(
        action=action.value,
        organization_id=organization_id,
        actor_kind=_kind(actor),
        actor_id=actor.user_id,
        key_id=actor.key_id,
        project_id=project_id,
        address=origin.address,
        user_agent=origin.user_agent,
        target_type=target_type,
        target_id=str(target_id)[:100],
        details=kept,
        request_id=str(structlog.contextvars.get_contextvars().get("request_id", ""))[:128],
    )


def _kind(actor: Caller) -> ActorKind:
    if isinstance(actor, Actor) and actor.kind is not None:
        return actor.kind
    if actor.key_id is not None:
        return ActorKind.API_KEY
    return ActorKind.USER if actor.user_id is not None else ActorKind.SYSTEM


def _clipped(name: str, value: Detail) -> Detail:
    if _SECRET.search(name):
        raise ValueError(f"The audit log keeps no secrets: {name}.")
    if isinstance(value, str):
        return value.replace("\x00", "")[:_MAX_DETAIL]
    if isinstance(value, list):
        return [str(one).replace("\x00", "")[:_MAX_DETAIL] for one in value[:100]]
    return value
