"""Who among the staff read content, when and why. The only writer of ContentAccess,
and of the same in the organization's audit log, which does not name the member of staff."""

import structlog
from django.db import transaction

from backend.accounts.models import User
from backend.audit.actions import Action
from backend.audit.services import record, staff
from backend.conversations.models import ContentAccess, Conversation
from backend.platform.errors import InvalidRequest, PermissionDenied

VIEW_CONTENT = "conversations.view_content"
_REASON_MIN, _REASON_MAX = 5, 500


@transaction.atomic
def content_access_record(*, actor: User, conversation: Conversation, reason: str) -> ContentAccess:
    """Write down that `actor` is about to be shown the content, before it is shown.

    Raises:
        PermissionDenied: without `conversations.view_content`.
        InvalidRequest: no reason worth the name (5 to 500 characters).
    """
    if not actor.has_perm(VIEW_CONTENT):
        raise PermissionDenied("Reading content needs the permission conversations.view_content.")
    reason = reason.strip()
    if not _REASON_MIN <= len(reason) <= _REASON_MAX:
        raise InvalidRequest(
            f"Give a reason of {_REASON_MIN} to {_REASON_MAX} characters.", param="reason"
        )
    record(
        Action.CONTENT_ACCESSED,
        organization_id=conversation.organization_id,
        actor=staff(actor.pk),
        target=("conversation", conversation.pk),
        details={"reason": reason},
    )
    return ContentAccess.objects.create(
        actor=actor,
        organization_id=conversation.organization_id,
        conversation_id=conversation.pk,
        reason=reason,
        request_id=str(structlog.contextvars.get_contextvars().get("request_id", "")),
    )
