"""The end of an account, in every app that knows the person."""

from uuid import UUID

from django.db import transaction

from backend.accounts.deletion import user_delete
from backend.conversations.services import conversations_delete_of_user


@transaction.atomic
def account_delete(*, user_id: UUID) -> None:
    """Delete the account, and the person's chats with their shares and files; see `user_delete`
    for what it raises and what stays."""
    user_delete(user_id=user_id)
    conversations_delete_of_user(user_id=user_id)
