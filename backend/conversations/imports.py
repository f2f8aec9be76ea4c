"""Conversations of other products, and of our own exports, become the caller's.

Each is stored whole or not at all, and once: it keeps a hash of its id where it came from.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.conversations.foreign_chats import ForeignChat, NotAChat, read_chat
from backend.conversations.models import Conversation, Message
from backend.conversations.parts import text_parts
from backend.conversations.quotas import conversation_room_check
from backend.conversations.services import clean_model
from backend.platform.errors import ContentBlocked, InsufficientQuota

MAX_AT_ONCE = 100


@dataclass(slots=True)
class ImportResult:
    """Attributes:
    present: how many were here already, in the trash too.
    refused: the place in the list, and why.
    """

    imported: int = 0
    present: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)


def conversations_import(
    *,
    principal: Principal,
    chats: Sequence[Any],
    model: str,
    refuse: Callable[[Principal, str], None],
) -> ImportResult:
    """Store those that are not here yet.

    Args:
        chats: as they stand in the list of an export (foreign_chats.py); untrusted.
        model: that their next turn asks for.
        refuse: raises ContentBlocked of instructions that no prompt may hold.
    """
    result = ImportResult()
    model = clean_model(model)
    for place, raw in enumerate(chats):
        try:
            chat = read_chat(raw)
            if chat.instructions:
                refuse(principal, chat.instructions)
        except (NotAChat, ContentBlocked) as reason:
            result.refused.append((place, str(reason)))
            continue
        try:
            is_new = _store(principal, chat, model)
        except InsufficientQuota as reason:
            result.refused.append((place, str(reason)))
            continue
        if is_new:
            result.imported += 1
        else:
            result.present += 1
    return result


@transaction.atomic
def _store(principal: Principal, chat: ForeignChat, model: str) -> bool:
    """False where it is here already, also as the chat that was exported."""
    theirs = Conversation.objects.filter(
        organization_id=principal.organization_id, user_id=principal.user_id
    )
    if chat.own_id is not None and theirs.filter(pk=chat.own_id).exists():
        return False
    if not theirs.filter(imported_id=chat.key).exists():
        conversation_room_check(principal)
    now = timezone.now()
    updated_at = chat.updated_at or chat.created_at or now
    conversation, is_new = Conversation.objects.get_or_create(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        imported_id=chat.key,
        defaults={
            "project_id": principal.project_id,
            "title": chat.title or "Imported chat",
            "title_is_manual": True,
            "model": model,
            "instructions": chat.instructions,
            "archived_at": now if chat.archived else None,
            "pinned_at": now if chat.pinned else None,
            "created_at": chat.created_at or updated_at,
            "updated_at": updated_at,
        },
    )
    if not is_new:
        return False
    ids = {message.id: uuid4() for message in chat.messages}
    Message.objects.bulk_create(
        Message(
            id=ids[message.id],
            conversation=conversation,
            parent_id=ids[message.parent] if message.parent is not None else None,
            role=message.role,
            content=text_parts(message.text),
            text=message.text,
            model=message.model,
            created_at=message.created_at or updated_at,
        )
        for message in chat.messages
    )
    conversation.active_message_id = ids[chat.active] if chat.active else None
    conversation.save(update_fields=["active_message"])
    return True
