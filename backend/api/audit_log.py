"""The audit log as it is shown: who may read it, names of actors, both shapes, the export."""

from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

from backend.accounts.principal import Principal
from backend.accounts.selectors import emails_of
from backend.api.schemas.audit_log import AuditActorOut, AuditEventOut
from backend.audit.actions import Action
from backend.audit.models import ActorKind, AuditEvent
from backend.audit.selectors import Filters, events_batch
from backend.audit.services import record
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest, PermissionDenied


def require_auditor(principal: Principal) -> None:
    """PermissionDenied unless owner or admin."""
    if not principal.manages_organization:
        raise PermissionDenied("Only owners and admins read the audit log.")


def known_actions(names: Sequence[str], *, param: str) -> list[str]:
    """`names`, each an action. InvalidRequest."""
    unknown = [name for name in names if name not in set(Action)]
    if unknown:
        raise InvalidRequest(f"Unknown event type {unknown[0][:64]!r}.", param=param)
    return list(names)


def shown(events: Sequence[AuditEvent]) -> list[AuditEventOut]:
    """With the actors' addresses, in one query. The operator's staff is not named."""
    emails = _emails(events)
    return [_shown(event, emails) for event in events]


def openai_shown(events: Sequence[AuditEvent]) -> list[dict[str, Any]]:
    """In OpenAI's shape: the details stand under the event's type."""
    emails = _emails(events)
    return [
        {
            "id": str(event.pk),
            "type": event.action,
            "effective_at": int(event.created_at.timestamp()),
            "actor": _openai_actor(event, emails),
            **({"project": {"id": str(event.project_id)}} if event.project_id else {}),
            event.action: {"id": event.target_id, "data": event.details},
        }
        for event in events
    ]


async def export_lines(principal: Principal, filters: Filters) -> AsyncIterator[bytes]:
    """JSON lines, newest first, a batch in memory at a time."""
    last: AuditEvent | None = None
    while True:
        batch, lines = await in_database(_batch, principal.organization_id, filters, last)
        if not batch:
            return
        yield lines
        last = batch[-1]


def export_record(principal: Principal) -> None:
    record(
        Action.AUDIT_LOG_EXPORTED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("audit_log", principal.organization_id),
    )


def _batch(
    organization_id: UUID, filters: Filters, last: AuditEvent | None
) -> tuple[list[AuditEvent], bytes]:
    batch = events_batch(organization_id=organization_id, filters=filters, last=last)
    lines = "".join(f"{event.model_dump_json()}\n" for event in shown(batch))
    return batch, lines.encode()


def _emails(events: Sequence[AuditEvent]) -> dict[UUID, str]:
    return emails_of({e.actor_id for e in events if e.actor_id and e.actor_kind != ActorKind.STAFF})


def _shown(event: AuditEvent, emails: dict[UUID, str]) -> AuditEventOut:
    is_staff = event.actor_kind == ActorKind.STAFF
    actor = AuditActorOut.model_validate(
        {
            "kind": event.actor_kind,
            "user_id": None if is_staff else event.actor_id,
            "email": emails.get(event.actor_id) if event.actor_id else None,
            "key_id": event.key_id,
        }
    )
    names = AuditEventOut.model_fields.keys() - {"actor", "address", "user_agent"}
    return AuditEventOut(
        **{name: getattr(event, name) for name in names},
        actor=actor,
        address="" if is_staff else event.address,
        user_agent="" if is_staff else event.user_agent,
    )


def _openai_actor(event: AuditEvent, emails: dict[UUID, str]) -> dict[str, Any]:
    if event.actor_kind in {ActorKind.STAFF, ActorKind.SYSTEM, ActorKind.SCIM}:
        return {"type": event.actor_kind}
    email = emails.get(event.actor_id, "") if event.actor_id else ""
    user = {"id": str(event.actor_id), "email": email}
    if event.actor_kind == ActorKind.API_KEY:
        return {
            "type": "api_key",
            "api_key": {"id": str(event.key_id), "type": "user", "user": user},
        }
    session = {"user": user, "ip_address": event.address, "user_agent": event.user_agent}
    return {"type": "session", "session": session}
