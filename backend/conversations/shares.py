"""Public links. A link shows what the active branch was when it was made: later turns, edits
and other branches stay private. Who has the token may read, until it expires or is revoked,
while its author belongs to the organization, and while that allows sharing; we keep only the
token's hash."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.conversations.cursors import NewestFirst
from backend.conversations.models import (
    Attachment,
    Conversation,
    Message,
    MessageRole,
    MessageStatus,
    Share,
    SharingPolicy,
)
from backend.conversations.selectors import conversation_get
from backend.conversations.titles import first_words
from backend.conversations.tree import path_to
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied

DEFAULT_DAYS = 30
MAX_DAYS = 365
MAX_WORKING_SHARES = 500  # of one user
LIST_LIMIT = 100
_TOKEN_BYTES = 24


@dataclass(frozen=True, slots=True)
class SharePage:
    """Attributes:
    next_cursor: asks for the following page; None at the end.
    """

    items: list[Share]
    next_cursor: str | None


@transaction.atomic
def share_create(
    *, principal: Principal, conversation_id: UUID, days: int = DEFAULT_DAYS
) -> tuple[Share, str]:
    """A new link, and its token, which nothing keeps.

    Args:
        days: until it expires, 1 to MAX_DAYS.
    Raises:
        PermissionDenied: the organization forbids it. InvalidRequest: `days` is out of bounds.
        NotFound: the conversation. Conflict: there is nothing finished in it to show, or the user
            has too many links.
    """
    if not sharing_is_allowed(organization_id=principal.organization_id):
        raise PermissionDenied(
            "Your organization does not allow sharing conversations; ask an owner or admin.",
            code="sharing_forbidden",
        )
    if not 1 <= days <= MAX_DAYS:
        raise InvalidRequest(
            f"expires_in_days is {days}; it must be 1 to {MAX_DAYS}.", param="expires_in_days"
        )
    conversation = conversation_get(principal=principal, conversation_id=conversation_id)
    if conversation.is_temporary:
        raise Conflict("A temporary chat leaves nothing behind, so it is not shared.")
    path = _shown_path(conversation.id, conversation.active_message_id)
    if not path:
        raise Conflict("There is nothing to share in this conversation yet.")
    if _unexpired().filter(created_by_id=principal.user_id).count() >= MAX_WORKING_SHARES:
        raise Conflict(f"You have {MAX_WORKING_SHARES} working links; revoke some first.")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    share = Share.objects.create(
        conversation=conversation,
        created_by_id=principal.user_id,
        token_sha256=_hash(token),
        # Not named yet: what its first prompt begins with, which the link shows anyway.
        title=conversation.title or first_words(path[0].text),
        model=_model_of(conversation, path),
        snapshot=_snapshot(path),
        expires_at=timezone.now() + timedelta(days=days),
    )
    _record(Action.SHARE_CREATED, principal, share.pk, days=days)
    return share, token


@transaction.atomic
def share_revoke(*, principal: Principal, share_id: UUID) -> None:
    """End a link: one's own, or as owner or admin any of the organization.

    Raises NotFound, also when it was revoked already.
    """
    revoked = (
        _shares_of(principal, whole_organization=principal.manages_organization)
        .filter(pk=share_id)
        .update(revoked_at=timezone.now())
    )
    if not revoked:
        raise NotFound(f"There is no share {share_id}.")
    _record(Action.SHARE_REVOKED, principal, share_id)


def shares_list(
    *, principal: Principal, conversation_id: UUID, cursor: str | None = None, limit: int = 30
) -> SharePage:
    """The working links to one conversation, newest first.

    Raises:
        NotFound: the conversation. InvalidRequest: the cursor is not one of ours.
    """
    conversation = conversation_get(principal=principal, conversation_id=conversation_id)
    return _page(_unexpired().filter(conversation=conversation), cursor, limit)


def shares_page(
    *,
    principal: Principal,
    whole_organization: bool = False,
    cursor: str | None = None,
    limit: int = 30,
) -> SharePage:
    """Links that have neither expired nor been revoked, newest first, with author: one's own, or
    everybody's.

    Raises:
        PermissionDenied: everybody's, for others than owners and admins.
        InvalidRequest: the cursor is not one of ours.
    """
    if whole_organization and not principal.manages_organization:
        raise PermissionDenied("Only owners and admins see the links of the whole organization.")
    rows = _shares_of(principal, whole_organization=whole_organization).select_related("created_by")
    return _page(rows, cursor, limit)


def shared_get(*, token: str) -> Share:
    """What a link shows, to anyone.

    Raises NotFound: unknown, revoked, expired, the conversation deleted, its author deactivated or
    no longer in the organization, or that forbids sharing or is suspended.
    """
    share = (
        _unexpired()
        .filter(
            token_sha256=_hash(token),
            conversation__deleted_at=None,
            created_by__is_active=True,
            conversation__organization__suspended_at=None,
            conversation__organization__memberships__user=F("created_by"),
        )
        .exclude(conversation__organization__sharing_policy__is_allowed=False)
        .first()
    )
    if share is None:
        raise NotFound("This link does not lead anywhere, or not any more.")
    return share


def sharing_is_allowed(*, organization_id: UUID) -> bool:
    return not SharingPolicy.objects.filter(
        organization_id=organization_id, is_allowed=False
    ).exists()


@transaction.atomic
def sharing_set(*, principal: Principal, is_allowed: bool) -> None:
    """Allow or forbid sharing. Forbidden, every link of the organization stops at once; those that
    have not expired or been revoked work again when it is allowed again.

    Raises PermissionDenied: neither owner nor admin.
    """
    if not principal.manages_organization:
        raise PermissionDenied("Only owners and admins decide whether members may share.")
    SharingPolicy.objects.update_or_create(
        organization_id=principal.organization_id,
        defaults={"is_allowed": is_allowed, "changed_by_id": principal.user_id},
    )
    record(
        Action.POLICY_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("policy", "sharing"),
        details={"is_allowed": is_allowed},
    )


def _record(action: Action, principal: Principal, share_id: UUID, **details: int) -> None:
    record(
        action,
        organization_id=principal.organization_id,
        actor=principal,
        target=("share", share_id),
        details=details,
    )


def _unexpired() -> QuerySet[Share]:
    return Share.objects.filter(revoked_at=None, expires_at__gt=timezone.now())


def _shares_of(principal: Principal, *, whole_organization: bool) -> QuerySet[Share]:
    rows = _unexpired().filter(conversation__organization_id=principal.organization_id)
    if whole_organization:
        return rows
    return rows.filter(created_by_id=principal.user_id, conversation__user_id=principal.user_id)


def _shown_path(conversation_id: UUID, leaf_id: UUID | None) -> list[Message]:
    if leaf_id is None:
        return []
    path = path_to(conversation_id=conversation_id, leaf_id=leaf_id)
    while path and not _is_shown(path[-1]):
        path.pop()  # an answer that is still coming, and one that never came
    return path


def _model_of(conversation: Conversation, path: list[Message]) -> str:
    """The model that wrote the last answer; "" for one from elsewhere that does not say so."""
    answered = next((one.model for one in reversed(path) if one.role != MessageRole.USER), "")
    return answered or ("" if conversation.imported_id else conversation.model)


def _snapshot(path: list[Message]) -> list[dict[str, Any]]:
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


def _page(rows: QuerySet[Share], cursor: str | None, limit: int) -> SharePage:
    if cursor:
        rows = rows.filter(NewestFirst.decode(cursor).following())
    limit = max(1, min(limit, LIST_LIMIT))
    found = list(rows.order_by("-created_at", "-id")[: limit + 1])
    items = found[:limit]
    more = len(found) > limit
    last = NewestFirst(items[-1].created_at, items[-1].id).encode() if more else None
    return SharePage(items, last)
