"""The end of a membership, in every app that knows the person: their keys and their chats."""

from typing import Literal
from uuid import UUID

from django.db import transaction

from backend.accounts.members import KeysChoice, member_remove, people_of
from backend.accounts.principal import Principal
from backend.api.request_logs.rows import (
    request_logs_delete_of_member,
    request_logs_hand_over,
)
from backend.api.responses.rows import responses_delete_of_member, responses_hand_over
from backend.conversations.handover import conversations_delete_of_member, conversations_hand_over
from backend.platform.errors import InvalidRequest, NotFound
from backend.tools.oauth.connections import connections_delete_of_member

ChatsChoice = Literal["keep", "hand_over", "delete"]


@transaction.atomic
def member_leave(
    *,
    principal: Principal,
    user_id: UUID,
    chats: ChatsChoice,
    chats_to: UUID | None,
    keys: KeysChoice,
) -> None:
    """Remove a member, or leave. See `member_remove` for `keys` and what it raises.

    Args:
        chats: chats, and stored responses and logged requests of the API. `keep`: they stay the
            member's, who reads them again once they are back; `hand_over`: they are
            `chats_to`'s from now on; `delete`: final after 30 days, of the API at once.
        chats_to: another member.
    """
    if (chats == "hand_over") != (chats_to is not None):
        raise InvalidRequest("chats_to goes with chats: hand_over.", param="chats_to")
    member_remove(principal=principal, user_id=user_id, keys=keys)
    connections_delete_of_member(organization_id=principal.organization_id, user_id=user_id)
    if chats == "delete":
        conversations_delete_of_member(organization_id=principal.organization_id, user_id=user_id)
        responses_delete_of_member(organization_id=principal.organization_id, user_id=user_id)
        request_logs_delete_of_member(organization_id=principal.organization_id, user_id=user_id)
    elif chats_to is not None:
        if not people_of(principal.organization_id).filter(user_id=chats_to).exists():
            raise NotFound(f"There is no member {chats_to}.", param="chats_to")
        place = {"organization_id": principal.organization_id, "user_id": user_id, "to": chats_to}
        conversations_hand_over(**place)
        responses_hand_over(**place)
        request_logs_hand_over(**place)
