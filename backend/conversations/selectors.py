"""Reads of `conversations`. A conversation is its user's, inside their organization: colleagues,
owners too, do not see it. What is deleted is not found."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.conversations.assistant_access import assistant_of_chat
from backend.conversations.assistant_models import Assistant
from backend.conversations.comparisons import compared_answers
from backend.conversations.cursors import Cursor
from backend.conversations.models import (
    Conversation,
    Feedback,
    Memory,
    Message,
    MessageStatus,
)
from backend.conversations.tags import clean_tag
from backend.conversations.tree import path_to, siblings_of
from backend.platform.errors import InvalidRequest, NotFound

LIST_LIMIT = 100
SEARCH_LIMIT = 200


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """One line of the list."""

    id: UUID
    title: str
    model: str
    pinned: bool
    archived: bool
    created_at: datetime
    updated_at: datetime
    generating: bool
    project_id: UUID | None
    temporary: bool
    tags: list[str]
    deleted_at: datetime | None


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Attributes:
    next_cursor: asks for the following page; None at the end.
    """

    items: list[ConversationSummary]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class BranchMessage:
    """A message of the shown branch.

    Attributes:
        siblings: the ids under the same parent, this one among them, oldest first.
        memories: what the answer was given of its person's memory, by id; None for an entry that
            has been forgotten.
    """

    message: Message
    siblings: list[UUID]
    feedback: Feedback | None
    memories: dict[UUID, str | None]


@dataclass(frozen=True, slots=True)
class RunningGeneration:
    """The answer that is being produced; `id` is None until the gateway has admitted it."""

    id: UUID | None
    message_id: UUID


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of the active branch, in order.

    Attributes:
        has_more: whether there are older messages above the first.
        assistant: the chat's, while its person sees it.
        compared: see comparisons.py; of the newest part alone.
    """

    conversation: Conversation
    messages: list[BranchMessage]
    has_more: bool
    generation: RunningGeneration | None
    assistant: Assistant | None
    compared: list[Message]


def conversations_of(principal: Principal) -> QuerySet[Conversation]:
    """Every query for conversations starts here: the tenant's, the user's, not deleted."""
    return Conversation.objects.filter(
        organization_id=principal.organization_id, user_id=principal.user_id, deleted_at=None
    )


def trash_of(principal: Principal) -> QuerySet[Conversation]:
    """What the user deleted and can still restore."""
    kept = timezone.now() - timedelta(days=settings.CONVERSATION_RETENTION_DAYS)
    return Conversation.objects.filter(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        deleted_at__gt=kept,
        is_temporary=False,
    )


def messages_of(principal: Principal) -> QuerySet[Message]:
    return Message.objects.filter(
        conversation__organization_id=principal.organization_id,
        conversation__user_id=principal.user_id,
        conversation__deleted_at=None,
    )


def conversations_list(
    *,
    principal: Principal,
    search: str = "",
    tag: str = "",
    project_id: UUID | None = None,
    archived: bool = False,
    deleted: bool = False,
    cursor: str | None = None,
    limit: int = 30,
) -> ConversationPage:
    """A page of the list: pinned ones first, then by the last turn, newest first.

    A page does not repeat or skip a conversation that did not change while one was paging.

    Args:
        deleted: those that can be restored, archived or not; `archived` is not looked at.
        search: text that the title or any message contains, in whatever case.
        tag: that they have, as it is written.
        project_id: that they were put into.
        cursor: of the page before.
    Raises:
        InvalidRequest: with `param`: not a cursor, a search over 200 characters.
    """
    limit = max(1, min(limit, LIST_LIMIT))
    rows = (
        trash_of(principal)
        if deleted
        else conversations_of(principal).filter(archived_at__isnull=not archived)
    ).filter(is_temporary=False)
    if search.strip():
        rows = rows.filter(_contains(principal, search.strip()))
    if tag:
        rows = rows.filter(tags__contains=[clean_tag(tag)])
    if project_id is not None:
        rows = rows.filter(project_id=project_id)
    if cursor:
        rows = rows.filter(Cursor.decode(cursor).following())
    rows = rows.annotate(
        generating=Exists(_pending().filter(conversation=OuterRef("pk"))),
        is_pinned=ExpressionWrapper(Q(pinned_at__isnull=False), output_field=BooleanField()),
    ).order_by("-is_pinned", "-updated_at", "-id")
    found = list(rows[: limit + 1])
    page = found[:limit]
    return ConversationPage(
        items=[summary_of(row, generating=row.generating) for row in page],
        next_cursor=Cursor.of(page[-1]).encode() if len(found) > limit else None,
    )


def summary_of(
    conversation: Conversation, *, generating: bool | None = None
) -> ConversationSummary:
    """Asks the database whether an answer is running where the caller does not know."""
    if generating is None:
        generating = _pending().filter(conversation=conversation).exists()
    return ConversationSummary(
        id=conversation.id,
        title=conversation.title,
        model=conversation.model,
        pinned=conversation.pinned_at is not None,
        archived=conversation.archived_at is not None,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        generating=generating,
        project_id=conversation.project_id,
        temporary=conversation.is_temporary,
        tags=conversation.tags,
        deleted_at=conversation.deleted_at,
    )


def conversation_get(*, principal: Principal, conversation_id: UUID) -> Conversation:
    """Raises NotFound, also for another user's."""
    conversation = conversations_of(principal).filter(pk=conversation_id).first()
    if conversation is None:
        raise NotFound(f"There is no conversation {conversation_id}.")
    return conversation


def message_get(*, principal: Principal, message_id: UUID) -> Message:
    """The message, with its conversation loaded. Raises NotFound."""
    message = messages_of(principal).filter(pk=message_id).select_related("conversation").first()
    if message is None:
        raise NotFound(f"There is no message {message_id}.")
    return message


def branch_get(
    *,
    principal: Principal,
    conversation_id: UUID,
    limit: int = 50,
    before: UUID | None = None,
) -> Branch:
    """The last `limit` messages of the active branch, or those above the message `before`.

    The cost follows `limit`, not the length of the conversation.

    Raises:
        NotFound: the conversation, or `before` in it.
    """
    conversation = conversation_get(principal=principal, conversation_id=conversation_id)
    leaf_id = conversation.active_message_id
    if before is not None:
        leaf_id = _parent_of(conversation, before)
    path: list[Message] = []
    if leaf_id is not None:
        path = path_to(
            conversation_id=conversation.id, leaf_id=leaf_id, max_messages=max(1, limit) + 1
        )
    has_more = len(path) > max(1, limit)
    shown = path[1:] if has_more else path
    siblings = siblings_of(shown)
    feedback = {
        given.message_id: given
        for given in Feedback.objects.filter(
            message_id__in=[message.id for message in shown], user_id=principal.user_id
        )
    }
    memories = _memories_used(principal, shown)
    return Branch(
        conversation=conversation,
        messages=[
            BranchMessage(
                message, siblings[message.id], feedback.get(message.id), memories[message.id]
            )
            for message in shown
        ],
        has_more=has_more,
        generation=_running(conversation),
        assistant=assistant_of_chat(conversation),
        compared=compared_answers(conversation) if before is None else [],
    )


def _contains(principal: Principal, search: str) -> Q:
    if len(search) > SEARCH_LIMIT or "\x00" in search:
        raise InvalidRequest(
            f"search must be at most {SEARCH_LIMIT} characters, without null characters.",
            param="search",
        )
    in_messages = messages_of(principal).filter(text__icontains=search)
    return Q(title__icontains=search) | Q(pk__in=in_messages.values("conversation_id"))


def _memories_used(
    principal: Principal, messages: list[Message]
) -> dict[UUID, dict[UUID, str | None]]:
    used = {
        message.id: [UUID(one) for one in (message.sent or {}).get("memories", [])]
        for message in messages
    }
    wanted = {one for ids in used.values() for one in ids}
    texts: dict[UUID, str] = {}
    if wanted:
        rows = Memory.objects.filter(
            organization_id=principal.organization_id, user_id=principal.user_id, pk__in=wanted
        )
        texts = dict(rows.values_list("pk", "text"))
    return {message: {one: texts.get(one) for one in ids} for message, ids in used.items()}


def _pending() -> QuerySet[Message]:
    return Message.objects.filter(status=MessageStatus.PENDING)


def _parent_of(conversation: Conversation, message_id: UUID) -> UUID | None:
    message = Message.objects.filter(conversation=conversation, pk=message_id).first()
    if message is None:
        raise NotFound(f"There is no message {message_id} here.", param="before")
    return message.parent_id


def _running(conversation: Conversation) -> RunningGeneration | None:
    """The shown branch's own pending answer where it has one, else the newest elsewhere."""
    pending = list(_pending().filter(conversation=conversation).order_by("-created_at"))
    if not pending:
        return None
    active = conversation.active_message_id
    message = next((m for m in pending if m.id == active), pending[0])
    return RunningGeneration(id=message.generation_id, message_id=message.id)
