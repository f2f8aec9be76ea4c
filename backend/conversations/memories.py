"""What is remembered of a person from chat to chat: kept, changed, forgotten, and used.

An entry comes from its person alone: typed on the memory page, asked for in words ("remember
that …"), or proposed from their own words and saved by their click. An entry is read by its
person's chats in its organization, and one of a project by that project's chats alone.

Order of locks: the person's MemorySettings, which each write takes first, then messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.accounts.project_access import project_usable
from backend.audit.actions import Action
from backend.audit.services import record
from backend.conversations.memory_models import Memory, MemoryPolicy, MemorySettings
from backend.conversations.memory_words import MAX_MEMORY, clean_memory, words_of
from backend.conversations.models import Conversation, Message
from backend.conversations.selectors import message_get
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied

MAX_MEMORIES = 200
"""Of a person in an organization, all projects together."""
MAX_TOKENS = 400
"""About how much of a prompt they take at most."""
_BYTES_PER_TOKEN = 3
_USED_STEP = timedelta(hours=1)
_SECTION = "What the user wants you to remember about them, to be used only where it helps:"


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Attributes:
    is_on: the person's own switch.
    is_allowed: the organization's.
    """

    items: list[Memory]
    is_on: bool
    is_allowed: bool


def memories_of(principal: Principal) -> QuerySet[Memory]:
    """Every query for entries starts here: the organization's, the person's."""
    return Memory.objects.filter(
        organization_id=principal.organization_id, user_id=principal.user_id
    )


def memories_list(*, principal: Principal) -> MemoryState:
    """All of the caller's, the newest first, also while memory is off."""
    settings = _settings_of(principal.organization_id, principal.user_id)
    return MemoryState(
        items=list(memories_of(principal).select_related("project").order_by("-created_at", "-id")),
        is_on=settings is None or settings.is_on,
        is_allowed=_is_allowed(principal.organization_id),
    )


@transaction.atomic
def memory_create(*, principal: Principal, text: str, project_id: UUID | None = None) -> Memory:
    """A new entry, or the one that says the same already.

    Args:
        project_id: whose chats read it; None: those of the default project.
    Raises:
        InvalidRequest: `text`. NotFound: the project. Conflict: memory is off, or full.
    """
    scope = None
    if project_id is not None:
        project = project_usable(principal, project_id)
        scope = None if project.is_default else project.pk
    return _keep(principal.organization_id, principal.user_id, scope, _clean(text))


@transaction.atomic
def memory_update(*, principal: Principal, memory_id: UUID, text: str) -> Memory:
    """Raises NotFound, InvalidRequest (`text`)."""
    memory = memories_of(principal).select_for_update().filter(pk=memory_id).first()
    if memory is None:
        raise NotFound(f"There is no memory {memory_id}.")
    memory.text = _clean(text)
    memory.save(update_fields=["text", "updated_at"])
    return memory


@transaction.atomic
def memory_forget(*, principal: Principal, memory_id: UUID) -> None:
    """Raises NotFound."""
    deleted, _ = memories_of(principal).filter(pk=memory_id).delete()
    if not deleted:
        raise NotFound(f"There is no memory {memory_id}.")


@transaction.atomic
def memories_forget(*, principal: Principal) -> int:
    """All of the caller's in the organization. Returns how many there were."""
    deleted, _ = memories_of(principal).delete()
    return deleted


@transaction.atomic
def memory_switch(*, principal: Principal, is_on: bool) -> None:
    """Off: nothing is used, proposed or added; what is there stays until it is forgotten."""
    MemorySettings.objects.update_or_create(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        defaults={"is_on": is_on},
    )


@transaction.atomic
def memory_policy_set(*, principal: Principal, is_allowed: bool) -> None:
    """The switch for all members. Raises PermissionDenied: neither owner nor admin."""
    if not principal.manages_organization:
        raise PermissionDenied("Only owners and admins decide whether members have memory.")
    MemoryPolicy.objects.update_or_create(
        organization_id=principal.organization_id,
        defaults={"is_allowed": is_allowed, "changed_by_id": principal.user_id},
    )
    record(
        Action.POLICY_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("policy", "memory"),
        details={"is_allowed": is_allowed},
    )


@transaction.atomic
def proposal_save(*, principal: Principal, message_id: UUID, text: str) -> Memory:
    """Keep what was proposed under a message, as the person would have it.

    Raises:
        NotFound: the message, or nothing is proposed there. InvalidRequest: `text`. Conflict.
    """
    message = message_get(principal=principal, message_id=message_id)
    if (message.memory or {}).get("state") not in ("proposed", "dismissed"):
        raise NotFound(f"Nothing is proposed under message {message_id}.")
    memory = memory_of_message(message, _clean(text))
    noted_set(message, state="saved", text=memory.text, memory_id=str(memory.pk))
    return memory


@transaction.atomic
def proposal_dismiss(*, principal: Principal, message_id: UUID) -> None:
    """Do not keep what was proposed under a message; forget it again where it was kept.

    Raises:
        NotFound: the message, or nothing was proposed there.
    """
    message = message_get(principal=principal, message_id=message_id)
    noted = message.memory or {}
    if noted.get("state") not in ("proposed", "saved"):
        raise NotFound(f"Nothing is proposed under message {message_id}.")
    if noted["state"] == "saved":
        memories_of(principal).filter(pk=noted["memory_id"]).delete()
    noted_set(message, state="dismissed", text=noted["text"], memory_id=None)


def noted_set(message: Message, **noted: Any) -> None:
    """What the page shows under a prompt of its memory; nothing takes that away."""
    message.memory = noted or None
    message.save(update_fields=["memory"])


def memory_of_message(message: Message, text: str) -> Memory:
    """Keep `text` for the chats that read what is kept of this one. Raises Conflict."""
    chat = message.conversation
    return _keep(chat.organization_id, chat.user_id, _scope_of(chat), text)


def memory_works_in(conversation: Conversation) -> bool:
    """Whether a chat may read and write memory: temporary ones never do, and both switches hold."""
    if conversation.is_temporary:
        return False
    settings = _settings_of(conversation.organization_id, conversation.user_id)
    return (settings is None or settings.is_on) and _is_allowed(conversation.organization_id)


def memories_for(conversation: Conversation, prompt: str, *, tokens: int) -> list[Memory]:
    """What of its person's memory a chat reads before `prompt`, oldest first.

    Where not everything fits into about `tokens`, those come first that share words with the
    prompt, then those that did lately. The order of what is chosen does not depend on the prompt,
    so that while all fits the beginning of a chat's prompts stays the same, and cached.
    """
    rows = list(
        Memory.objects.filter(
            organization_id=conversation.organization_id, user_id=conversation.user_id
        ).order_by("created_at", "id")
    )
    if not rows or not memory_works_in(conversation):
        return []
    scope = _scope_of(conversation)
    rows = [row for row in rows if row.project_id == scope]
    asked = {word for word in words_of(prompt) if len(word) > 1}
    shared = {row.pk: len(asked & words_of(row.text)) for row in rows}
    best = sorted(
        rows,
        key=lambda row: (shared[row.pk], row.used_at or row.created_at),
        reverse=True,
    )
    chosen, left = set(), tokens - _cost(_SECTION)
    for row in best:
        if (cost := _cost(row.text)) <= left:
            left -= cost
            chosen.add(row.pk)
    _note_use([row.pk for row in rows if row.pk in chosen and shared[row.pk]])
    return [row for row in rows if row.pk in chosen]


def memory_section(memories: Sequence[Memory]) -> str:
    """What stands in a system message of them."""
    return "\n".join([_SECTION, *(f"- {memory.text}" for memory in memories)]) if memories else ""


def _cost(text: str) -> int:
    return len(text.encode()) // _BYTES_PER_TOKEN + 2


def _note_use(ids: list[UUID]) -> None:
    """At most once an hour each; an entry that another turn has locked is passed over."""
    due = Memory.objects.select_for_update(skip_locked=True).filter(pk__in=ids)
    stale = timezone.now() - _USED_STEP
    late = [
        pk
        for pk, used_at in due.order_by("pk").values_list("pk", "used_at")
        if used_at is None or used_at < stale
    ]
    if late:
        Memory.objects.filter(pk__in=late).update(used_at=timezone.now())


def _keep(organization_id: UUID, user_id: UUID, project_id: UUID | None, text: str) -> Memory:
    settings, _ = MemorySettings.objects.get_or_create(
        organization_id=organization_id, user_id=user_id
    )
    # Locked, so that two tabs cannot pass the limit together.
    settings = MemorySettings.objects.select_for_update().get(pk=settings.pk)
    if not settings.is_on or not _is_allowed(organization_id):
        raise Conflict("Memory is off; nothing new is remembered.", code="memory_off")
    rows = Memory.objects.filter(organization_id=organization_id, user_id=user_id)
    same = rows.filter(text__iexact=text)
    known = next((row for row in same if row.project_id == project_id), None)
    if known is not None:
        return known
    if rows.count() >= MAX_MEMORIES:
        raise Conflict(f"There are {MAX_MEMORIES} memories; forget some first.", code="memory_full")
    return Memory.objects.create(
        organization_id=organization_id, user_id=user_id, project_id=project_id, text=text
    )


def _scope_of(conversation: Conversation) -> UUID | None:
    project = conversation.project
    return None if project is None or project.is_default else project.pk


def _settings_of(organization_id: UUID, user_id: UUID) -> MemorySettings | None:
    return MemorySettings.objects.filter(organization_id=organization_id, user_id=user_id).first()


def _is_allowed(organization_id: UUID) -> bool:
    return not MemoryPolicy.objects.filter(
        organization_id=organization_id, is_allowed=False
    ).exists()


def _clean(text: str) -> str:
    clean = clean_memory(text)
    if clean is None:
        raise InvalidRequest(
            f"A memory is one sentence of 1 to {MAX_MEMORY} characters.", param="text"
        )
    return clean
