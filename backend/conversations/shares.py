"""Public links. A link shows what the active branch was when it was made: later turns, edits
and other branches stay private. Whoever has the token may read; we keep only its hash."""

import hashlib
import secrets
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.conversations.models import Attachment, Message, MessageStatus, Share
from backend.conversations.selectors import conversation_get
from backend.conversations.tree import path_to
from backend.platform.errors import Conflict, NotFound

_TOKEN_BYTES = 24


@transaction.atomic
def share_create(*, principal: Principal, conversation_id: UUID) -> tuple[Share, str]:
    """A new link, and its token, which nothing keeps.

    Raises:
        NotFound: the conversation. Conflict: there is nothing finished in it to show.
    """
    conversation = conversation_get(principal=principal, conversation_id=conversation_id)
    snapshot = _snapshot(conversation.id, conversation.active_message_id)
    if not snapshot:
        raise Conflict("There is nothing to share in this conversation yet.")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    share = Share.objects.create(
        conversation=conversation,
        created_by_id=principal.user_id,
        token_sha256=_hash(token),
        title=conversation.title or "Shared conversation",
        model=conversation.model,
        snapshot=snapshot,
    )
    return share, token


def share_revoke(*, principal: Principal, share_id: UUID) -> None:
    """End a link. Raises NotFound, also when it was revoked already."""
    revoked = Share.objects.filter(
        pk=share_id,
        revoked_at=None,
        created_by_id=principal.user_id,
        conversation__organization_id=principal.organization_id,
        conversation__user_id=principal.user_id,
    ).update(revoked_at=timezone.now())
    if not revoked:
        raise NotFound(f"There is no share {share_id}.")


def shares_list(*, principal: Principal, conversation_id: UUID) -> list[Share]:
    """The working links to one conversation, newest first. Raises NotFound."""
    conversation = conversation_get(principal=principal, conversation_id=conversation_id)
    return list(conversation.shares.filter(revoked_at=None).order_by("-created_at"))


def shared_get(*, token: str) -> Share:
    """What a link shows, to anyone. Raises NotFound: unknown, revoked, or deleted."""
    share = Share.objects.filter(
        token_sha256=_hash(token), revoked_at=None, conversation__deleted_at=None
    ).first()
    if share is None:
        raise NotFound("This link does not lead anywhere, or not any more.")
    return share


def _snapshot(conversation_id: UUID, leaf_id: UUID | None) -> list[dict[str, Any]]:
    if leaf_id is None:
        return []
    path = path_to(conversation_id=conversation_id, leaf_id=leaf_id)
    while path and not _is_shown(path[-1]):
        path.pop()  # an answer that is still coming, and one that never came
    names = _attachment_names(path)
    return [
        {
            "role": message.role,
            "content": message.text,
            "attachments": [
                names[part["attachment_id"]]
                for part in message.content
                if part.get("attachment_id") in names
            ],
            "created_at": message.created_at.isoformat(),
        }
        for message in path
    ]


def _is_shown(message: Message) -> bool:
    return message.status != MessageStatus.PENDING and bool(message.text or message.content)


def _attachment_names(path: list[Message]) -> dict[str, str]:
    wanted = {
        part["attachment_id"]
        for message in path
        for part in message.content
        if "attachment_id" in part
    }
    rows = Attachment.objects.filter(pk__in=wanted).values_list("pk", "filename")
    return {str(pk): filename for pk, filename in rows}


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
