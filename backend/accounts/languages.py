"""Whose language a mail is in: their own, where they have said one."""

from contextlib import AbstractContextManager

from backend.accounts.models import User
from backend.platform.languages import writing_in


def language_of(account: User | None) -> str:
    """The BCP 47 tag of what they read; empty: unknown, which is written to in English."""
    return account.language if account else ""


def writing_to(account: User | None, otherwise: str = "") -> AbstractContextManager[None]:
    """Translate into their language what is made inside.

    Args:
        otherwise: for who has no account, or has said no language.
    """
    return writing_in(language_of(account) or otherwise)
