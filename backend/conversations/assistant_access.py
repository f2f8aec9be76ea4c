"""Which assistants a person sees and changes, and what one says in a chat.

Its author does both. A role that it is shared with does what it is shared for. Owners and admins of
the organization do both with whatever is shared at all; what is not shared, they do not see.
"""

from uuid import UUID

from django.db.models import Q, QuerySet

from backend.accounts.models import Membership
from backend.accounts.principal import Principal
from backend.accounts.roles import MANAGERS
from backend.conversations.assistant_models import Assistant
from backend.conversations.models import Conversation
from backend.platform.errors import NotFound, PermissionDenied


def assistants_of(principal: Principal) -> QuerySet[Assistant]:
    """Those that the caller sees."""
    return _seen(principal.organization_id, principal.user_id, principal.role)


def assistant_get(*, principal: Principal, assistant_id: UUID) -> Assistant:
    """Raises NotFound, also for one that is not shared with the caller."""
    found = assistants_of(principal).select_related("user").filter(pk=assistant_id).first()
    if found is None:
        raise NotFound(f"There is no assistant {assistant_id}.", param="assistant_id")
    return found


def assistant_edited(principal: Principal, assistant_id: UUID) -> Assistant:
    """One to be changed by the caller, locked.

    Raises:
        NotFound. PermissionDenied: the caller sees it only.
    """
    assistant = assistant_get(principal=principal, assistant_id=assistant_id)
    if not may_edit(principal, assistant):
        raise PermissionDenied("This assistant is shared with you to be used, not to be changed.")
    return Assistant.objects.select_for_update().get(pk=assistant.pk)


def may_edit(principal: Principal, assistant: Assistant) -> bool:
    """Of one that the caller sees."""
    return (
        assistant.user_id == principal.user_id
        or principal.role in MANAGERS
        or principal.role in assistant.edited_by
    )


def assistant_of_chat(conversation: Conversation) -> Assistant | None:
    """None where the chat has none, or its person does not see it any more."""
    if conversation.assistant_id is None:
        return None
    return assistant_seen_by(
        organization_id=conversation.organization_id,
        user_id=conversation.user_id,
        assistant_id=conversation.assistant_id,
    )


def assistant_seen_by(
    *, organization_id: UUID, user_id: UUID, assistant_id: UUID
) -> Assistant | None:
    """The assistant, where the person sees it now; for work in their name."""
    role = (
        Membership.objects.filter(organization_id=organization_id, user_id=user_id)
        .values_list("role", flat=True)
        .first()
    )
    if role is None:
        return None
    return _seen(organization_id, user_id, role).filter(pk=assistant_id).first()


def _seen(organization_id: UUID, user_id: UUID, role: str) -> QuerySet[Assistant]:
    shared = Q(seen_by__contains=[role]) | Q(edited_by__contains=[role])
    if role in MANAGERS:
        shared = ~Q(seen_by=[]) | ~Q(edited_by=[])
    return Assistant.objects.filter(Q(user_id=user_id) | shared, organization_id=organization_id)
