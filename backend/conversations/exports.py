"""A conversation as a file: all branches as JSON, the shown one as Markdown."""

from typing import Any
from uuid import UUID

from backend.accounts.principal import Principal
from backend.conversations.models import Message, MessageRole
from backend.conversations.selectors import conversation_get, conversations_of
from backend.conversations.tree import path_to

FORMAT = "parley.conversations.v1"


def exportable_ids(*, principal: Principal) -> list[UUID]:
    """All conversations of the caller, archived ones too, newest first; no temporary ones."""
    rows = conversations_of(principal).filter(is_temporary=False)
    return list(rows.order_by("-updated_at", "-id").values_list("pk", flat=True))


def conversation_export(*, principal: Principal, conversation_id: UUID) -> dict[str, Any]:
    """All of it that is text: what imports.py reads again. Files go by their names.

    Raises:
        NotFound: also for another user's.
    """
    row = conversation_get(principal=principal, conversation_id=conversation_id)
    messages = Message.objects.filter(conversation=row).order_by("created_at", "id")
    return {
        "id": str(row.pk),
        "title": row.title,
        "model": row.model,
        "instructions": row.instructions,
        "parameters": row.parameters,
        "pinned": row.pinned_at is not None,
        "archived": row.archived_at is not None,
        "created_at": row.created_at.isoformat(),
        "updated_at": row.updated_at.isoformat(),
        "active_message_id": str(row.active_message_id) if row.active_message_id else None,
        "messages": [_message(message) for message in messages],
    }


def conversation_markdown(*, principal: Principal, conversation_id: UUID) -> str:
    """The shown branch, a heading for each message. Raises NotFound."""
    row = conversation_get(principal=principal, conversation_id=conversation_id)
    path: list[Message] = []
    if row.active_message_id is not None:
        path = path_to(conversation_id=row.pk, leaf_id=row.active_message_id)
    parts = [f"# {row.title or 'Untitled'}", f"{row.created_at:%Y-%m-%d %H:%M} UTC · {row.model}"]
    for message in path:
        speaker = "You" if message.role == MessageRole.USER else message.model or "Parley"
        files = [f"*Attached: {name}*" for name in _files(message)]
        parts += [f"## {speaker}", *files, message.text]
    return "\n\n".join(part for part in parts if part) + "\n"


def _message(message: Message) -> dict[str, Any]:
    return {
        "id": str(message.pk),
        "parent_id": str(message.parent_id) if message.parent_id else None,
        "role": message.role,
        "text": message.text,
        "status": message.status,
        "model": message.model or None,
        "created_at": message.created_at.isoformat(),
        "attachments": _files(message),
    }


def _files(message: Message) -> list[str]:
    return [part.get("filename", "file") for part in message.content if "attachment_id" in part]
