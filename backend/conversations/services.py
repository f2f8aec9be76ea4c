"""Writes to a conversation as a whole. turns.py holds what happens inside it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.accounts.models import Project
from backend.accounts.principal import Principal
from backend.accounts.project_access import project_usable
from backend.conversations.assistants import assistant_used
from backend.conversations.instructions import chat_defaults_get, clean_instructions
from backend.conversations.models import Conversation
from backend.conversations.notify import EventType, notify
from backend.conversations.quotas import conversation_room_check
from backend.conversations.selectors import conversations_of, trash_of
from backend.conversations.tags import clean_tags
from backend.conversations.tree import newest_leaf_below
from backend.platform.errors import InvalidRequest, NotFound, PermissionDenied

BulkAction = Literal["archive", "unarchive", "delete", "restore"]

TITLE_LIMIT = 200
_MODEL_LIMIT = 100


@transaction.atomic
def conversation_create(
    *,
    principal: Principal,
    model: str,
    title: str = "",
    project_id: UUID | None = None,
    temporary: bool = False,
    assistant_id: UUID | None = None,
) -> Conversation:
    """An empty conversation. A given title counts as the user's own.

    Args:
        temporary: in no list, and erased when it ends (purge.py).
        project_id: whose rules hold for it; None is the caller's: a key's own, else the default.
        assistant_id: whose instructions it has. It begins with its parameters, and with the
            caller's own where that has none.
    Raises:
        InvalidRequest: with `param`: a title over 200 characters, a model name that is none.
        NotFound: `project_id` is no project of the caller's, or `assistant_id` none that they see.
        Conflict: the project is archived.
        InsufficientQuota: the caller has as many as the plan allows.
    """
    conversation_room_check(principal)
    assistant = assistant_used(principal, assistant_id) if assistant_id is not None else None
    parameters = chat_defaults_get(principal=principal).parameters
    if project_id is not None:
        project_usable(principal, project_id)
    conversation = Conversation.objects.create(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        project_id=project_id or principal.project_id,
        model=clean_model(model),
        title=_clean_title(title) if title.strip() else "",
        title_is_manual=bool(title.strip()),
        is_temporary=temporary,
        assistant=assistant,
        parameters={**parameters, **(assistant.parameters if assistant is not None else {})},
    )
    _changed(conversation)
    return conversation


@transaction.atomic
def conversation_update(
    *,
    principal: Principal,
    conversation_id: UUID,
    title: str | None = None,
    pinned: bool | None = None,
    archived: bool | None = None,
    model: str | None = None,
    active_message_id: UUID | None = None,
    project_id: UUID | None = None,
    instructions: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    tags: Sequence[str] | None = None,
    web_search: bool | None = None,
) -> Conversation:
    """Change what is given; None leaves a field as it is.

    Args:
        active_message_id: any message; the newest leaf below it becomes the active one.
        project_id: whose rules hold from the next turn on, and for how long it is kept.
        instructions: what the model reads before the messages.
        parameters: all of the chat's sampling parameters, validated by the caller.
        tags: all of its tags (tags.py).
        web_search: whether the model is offered the web, where the organization has a provider.
    Raises:
        NotFound: the conversation, the message in it, or a project of the caller's.
        InvalidRequest: with `param`. Conflict: the project is archived.
        PermissionDenied: it does not allow the chat's model.
    """
    conversation = conversation_locked(principal, conversation_id)
    now = timezone.now()
    if title is not None:
        conversation.title = _clean_title(title)
        conversation.title_is_manual = True
    if pinned is not None:
        conversation.pinned_at = (conversation.pinned_at or now) if pinned else None
    if archived is not None:
        conversation.archived_at = (conversation.archived_at or now) if archived else None
    if model is not None:
        conversation.model = clean_model(model)
    if active_message_id is not None:
        leaf = newest_leaf_below(conversation_id=conversation.id, message_id=active_message_id)
        if leaf is None:
            raise NotFound(
                f"There is no message {active_message_id} here.", param="active_message_id"
            )
        conversation.active_message_id = leaf
        conversation.compared_prompt_id = None  # one of them was chosen, or another branch
    if project_id is not None:
        _move(conversation, project_usable(principal, project_id))
    if instructions is not None:
        conversation.instructions = clean_instructions(instructions, param="instructions")
    if parameters is not None:
        conversation.parameters = dict(parameters)
    if tags is not None:
        conversation.tags = clean_tags(tags)
    if web_search is not None:
        conversation.web_search = web_search
    conversation.save()
    _changed(conversation)
    return conversation


def _move(conversation: Conversation, project: Project) -> None:
    """Into `project`, whose rules hold from the next turn on. Raises PermissionDenied."""
    allowed = project.allowed_models
    if allowed and conversation.model and conversation.model not in allowed:
        raise PermissionDenied(
            f"The project {project.name} does not allow the model {conversation.model}:"
            " choose another model for this chat first.",
            param="project_id",
            code="model_not_allowed",
        )
    conversation.project_id = project.pk


@transaction.atomic
def conversation_delete(*, principal: Principal, conversation_id: UUID) -> None:
    """Hide it everywhere, its shares too. Final after CONVERSATION_RETENTION_DAYS.

    Raises:
        NotFound: also when it is deleted already.
    """
    conversation = conversation_locked(principal, conversation_id)
    conversation.deleted_at = timezone.now()
    conversation.save(update_fields=["deleted_at"])
    notify("conversation.deleted", user_id=conversation.user_id, conversation_id=conversation.id)


@transaction.atomic
def conversations_change(
    *, principal: Principal, conversation_ids: Sequence[UUID], action: BulkAction
) -> int:
    """Archive, unarchive, delete or restore several. What is not the caller's, or is so already,
    is left alone.

    Returns:
        How many were changed.
    """
    changed = _BULK[action](timezone.now())
    rows = trash_of(principal) if action == "restore" else conversations_of(principal)
    chosen = rows.filter(pk__in=conversation_ids, is_temporary=False)
    ids = list(chosen.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    Conversation.objects.filter(pk__in=ids).update(**changed)
    event: EventType = "conversation.deleted" if action == "delete" else "conversation.changed"
    for conversation_id in ids:
        notify(event, user_id=principal.user_id, conversation_id=conversation_id)
    return len(ids)


_BULK: dict[str, Callable[[datetime], dict[str, datetime | None]]] = {
    "archive": lambda now: {"archived_at": now},
    "unarchive": lambda now: {"archived_at": None},
    "delete": lambda now: {"deleted_at": now},
    "restore": lambda now: {"deleted_at": None},
}


@transaction.atomic
def conversation_restore(*, principal: Principal, conversation_id: UUID) -> Conversation:
    """Undo a deletion. One that is not deleted is returned as it is. Raises NotFound."""
    conversation = (
        Conversation.objects.select_for_update(no_key=True)
        .filter(
            pk=conversation_id,
            organization_id=principal.organization_id,
            user_id=principal.user_id,
            is_temporary=False,
        )
        .first()
    )
    if conversation is None:
        raise NotFound(f"There is no conversation {conversation_id}.")
    if conversation.deleted_at is not None:
        conversation.deleted_at = None
        conversation.save(update_fields=["deleted_at"])
        _changed(conversation)
    return conversation


def conversation_locked(principal: Principal, conversation_id: UUID) -> Conversation:
    """The conversation, locked against other writers of it. Raises NotFound.

    `no_key`: the lock leaves room for the key-share locks that new messages take on it.
    """
    conversation = (
        conversations_of(principal)
        .select_for_update(no_key=True)
        .filter(pk=conversation_id)
        .first()
    )
    if conversation is None:
        raise NotFound(f"There is no conversation {conversation_id}.")
    return conversation


def clean_model(model: str) -> str:
    """A name as a client may give it; whether there is such a model, the gateway knows."""
    model = model.strip()
    if not model or len(model) > _MODEL_LIMIT or "\x00" in model:
        raise InvalidRequest("model must be the name of a model.", param="model")
    return model


def _clean_title(title: str) -> str:
    title = " ".join(title.split())
    if not title or len(title) > TITLE_LIMIT or "\x00" in title:
        raise InvalidRequest(
            f"title must have 1 to {TITLE_LIMIT} characters, none of them null.", param="title"
        )
    return title


def _changed(conversation: Conversation) -> None:
    notify("conversation.changed", user_id=conversation.user_id, conversation_id=conversation.id)
