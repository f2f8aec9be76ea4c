"""Assistants: made, changed, shared, copied and deleted. Who may, assistant_access.py says.

A chat refers to its assistant: what that says is read at each answer, and a chat whose assistant is
gone, or not shared with its person any more, goes on without it. Model and parameters are copied
into a chat when it begins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from backend.accounts.models import Role
from backend.accounts.paging import Page, page_after
from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.conversations.assistant_access import (
    assistant_edited,
    assistant_get,
    assistants_of,
)
from backend.conversations.assistant_models import Assistant
from backend.conversations.instructions import clean_instructions
from backend.platform.errors import Conflict, InvalidRequest, NotFound

MAX_ASSISTANTS = 200
MAX_STARTERS = 6
MAX_STARTER_LENGTH = 500
MAX_NAME = 100
MAX_DESCRIPTION = 500


@dataclass(frozen=True, slots=True)
class AssistantChange:
    """What is to be set; None leaves a field as it is.

    Attributes:
        model: an id of a model, "" for none; `parameters`: all of them. Both validated by the
            caller.
        seen_by, edited_by: all of the roles that see and change it.
    """

    name: str | None = None
    description: str | None = None
    instructions: str | None = None
    model: str | None = None
    parameters: Mapping[str, Any] | None = None
    starters: Sequence[str] | None = None
    seen_by: Sequence[str] | None = None
    edited_by: Sequence[str] | None = None


def assistants_page(*, principal: Principal, after: str | None, limit: int) -> Page[Assistant]:
    """Those that the caller sees, the newest first."""
    rows = assistants_of(principal).select_related("user")
    return page_after(rows, after=after, limit=limit, newest_first=True)


@transaction.atomic
def assistant_create(*, principal: Principal, change: AssistantChange) -> Assistant:
    """One of the caller's own.

    Raises:
        InvalidRequest: with `param`. Conflict: the caller has 200 already.
    """
    own = Assistant.objects.filter(
        organization_id=principal.organization_id, user_id=principal.user_id
    )
    if own.count() >= MAX_ASSISTANTS:
        raise Conflict(f"A person has at most {MAX_ASSISTANTS} assistants; delete one first.")
    assistant = Assistant(organization_id=principal.organization_id, user_id=principal.user_id)
    _apply(assistant, change)
    if not assistant.name:
        raise InvalidRequest("An assistant needs a name.", param="name")
    assistant.save(force_insert=True)
    _record(Action.ASSISTANT_CREATED, principal, assistant)
    return assistant


@transaction.atomic
def assistant_update(
    *, principal: Principal, assistant_id: UUID, change: AssistantChange
) -> Assistant:
    """Its chats read the new instructions from their next answer on.

    Raises:
        NotFound, PermissionDenied: see `assistant_edited`. InvalidRequest: with `param`.
    """
    assistant = assistant_edited(principal, assistant_id)
    _apply(assistant, change)
    assistant.save()
    _record(Action.ASSISTANT_UPDATED, principal, assistant)
    return assistant


@transaction.atomic
def assistant_delete(*, principal: Principal, assistant_id: UUID) -> None:
    """At once and for good; its chats stay. Raises NotFound, PermissionDenied."""
    assistant = assistant_edited(principal, assistant_id)
    _record(Action.ASSISTANT_DELETED, principal, assistant)
    assistant.delete()


def assistant_duplicate(*, principal: Principal, assistant_id: UUID) -> Assistant:
    """A copy of the caller's own, shared with nobody, of one that they see.

    Raises:
        NotFound. Conflict: see `assistant_create`.
    """
    source = assistant_get(principal=principal, assistant_id=assistant_id)
    copy = AssistantChange(
        name=f"Copy of {source.name}"[:MAX_NAME],
        description=source.description,
        instructions=source.instructions,
        model=source.model,
        parameters=source.parameters,
        starters=source.starters,
    )
    return assistant_create(principal=principal, change=copy)


def assistant_used(principal: Principal, assistant_id: UUID) -> Assistant:
    """One for a new chat. Raises NotFound.

    Its row is locked against being deleted before the chat refers to it.
    """
    rows = assistants_of(principal).select_for_update(no_key=True)
    found = rows.filter(pk=assistant_id).first()
    if found is None:
        raise NotFound(f"There is no assistant {assistant_id}.", param="assistant_id")
    return found


def _apply(assistant: Assistant, change: AssistantChange) -> None:
    if change.name is not None:
        assistant.name = _line(change.name, "name", MAX_NAME)
        if not assistant.name:
            raise InvalidRequest("An assistant needs a name.", param="name")
    if change.description is not None:
        assistant.description = _line(change.description, "description", MAX_DESCRIPTION)
    if change.instructions is not None:
        assistant.instructions = clean_instructions(change.instructions, param="instructions")
    if change.model is not None:
        assistant.model = change.model
    if change.parameters is not None:
        assistant.parameters = dict(change.parameters)
    if change.starters is not None:
        assistant.starters = _clean_starters(change.starters)
    if change.seen_by is not None:
        assistant.seen_by = _clean_roles(change.seen_by, "seen_by")
    if change.edited_by is not None:
        assistant.edited_by = _clean_roles(change.edited_by, "edited_by")


def _line(text: str, param: str, limit: int) -> str:
    return " ".join(clean_instructions(text, param=param, limit=limit).split())


def _clean_starters(starters: Sequence[str]) -> list[str]:
    cleaned = [
        clean_instructions(each, param="starters", limit=MAX_STARTER_LENGTH) for each in starters
    ]
    kept = list(dict.fromkeys(each for each in cleaned if each))
    if len(kept) > MAX_STARTERS:
        raise InvalidRequest(f"At most {MAX_STARTERS} starters.", param="starters")
    return kept


def _clean_roles(roles: Sequence[str], param: str) -> list[str]:
    unknown = set(roles) - set(Role.values)
    if unknown:
        raise InvalidRequest(
            f"There is no role {min(unknown)[:50]!r}; there are {', '.join(Role.values)}.",
            param=param,
        )
    return [role for role in Role.values if role in roles]


def _record(action: Action, principal: Principal, assistant: Assistant) -> None:
    record(
        action,
        organization_id=assistant.organization_id,
        actor=principal,
        target=("assistant", assistant.pk),
        details={"seen_by": assistant.seen_by, "edited_by": assistant.edited_by},
    )
