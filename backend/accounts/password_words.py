"""Passwords made of this installation's own words, which are guessed first (ASVS 5.0, 6.2.11).

The words: Parley, the seller's name, and the parts of the names that it is reached by.
"""

import re
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError

MIN_REST = 8
_MIN_WORD = 4


def own_words() -> list[str]:
    """The longest first."""
    host = urlsplit(settings.PUBLIC_URL).hostname or ""
    text = f"parley {settings.BILLING_SELLER_NAME} {host} {settings.ADMIN_HOST}"
    words = {word for word in re.split(r"[^a-z]+", text.lower()) if len(word) >= _MIN_WORD}
    return sorted(words, key=len, reverse=True)


class OwnWordsValidator:
    """One of Django's password validators: what is left without these words has to do alone."""

    def validate(self, password: str, user: object = None) -> None:
        """Raises ValidationError."""
        rest = password.lower()
        for word in own_words():
            rest = rest.replace(word, "")
        if rest != password.lower() and len(rest) < MIN_REST:
            raise ValidationError(self.get_help_text(), code="password_of_own_words")

    def get_help_text(self) -> str:
        return (
            "A password that holds the name of this site needs at least"
            f" {MIN_REST} other characters."
        )
