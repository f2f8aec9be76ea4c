"""Tags: words of a person's own on their conversations. A tag exists for as long as a conversation
has it; a conversation has any number of them, and a tag any number of conversations."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from backend.accounts.principal import Principal
from backend.platform.errors import InvalidRequest

MAX_TAGS = 10
MAX_TAG_LENGTH = 40
MAX_LISTED = 200

_COUNTS = """
SELECT tag, count(*) FROM conversations_conversation
CROSS JOIN LATERAL jsonb_array_elements_text(tags) AS each(tag)
WHERE organization_id = %s AND user_id = %s AND deleted_at IS NULL AND NOT is_temporary
  AND archived_at IS NULL
GROUP BY tag ORDER BY count(*) DESC, tag LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag, and how many conversations of the list have it."""

    tag: str
    count: int


def tags_list(*, principal: Principal) -> list[TagCount]:
    """The caller's tags, the most used first; at most 200."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, [principal.organization_id, principal.user_id, MAX_LISTED])
        return [TagCount(*row) for row in cursor.fetchall()]


def clean_tags(tags: Sequence[str]) -> list[str]:
    """As they are kept: without spaces around and doubles, whatever their case.

    Raises InvalidRequest: over 10, one that is empty, over 40 characters, or has commas or
    control characters.
    """
    kept: dict[str, str] = {}
    for tag in tags:
        clean = clean_tag(tag)
        kept.setdefault(clean.casefold(), clean)
    if len(kept) > MAX_TAGS:
        raise InvalidRequest(f"A conversation has at most {MAX_TAGS} tags.", param="tags")
    return list(kept.values())


def clean_tag(tag: str) -> str:
    """Raises InvalidRequest: see `clean_tags`."""
    clean = " ".join(tag.split())
    control = any(unicodedata.category(letter).startswith("C") for letter in clean)
    if not 1 <= len(clean) <= MAX_TAG_LENGTH or "," in clean or control:
        raise InvalidRequest(
            f"A tag is 1 to {MAX_TAG_LENGTH} characters, without commas and control characters.",
            param="tags",
        )
    return clean
