"""Lists of a directory's users and groups: filtered, sorted, paged.

The one filter that directories ask with for each user (`userName eq`, `externalId eq`) is a query;
others are matched row by row, in an organization's own rows.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

MAX_COUNT = 200

_EQUALS = re.compile(r'\s*(userName|externalId|displayName)\s+eq\s+"([^"\\]*)"\s*', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Page:
    """`start` counts from 1, `total` is of all pages."""

    resources: list[Any]
    total: int
    start: int


def matched(resources: list[Any], request: Any) -> Page:
    """The page of `resources` that a `SearchRequest` asks for."""
    start = request.start_index_0 or 0
    count = MAX_COUNT if request.count is None else min(request.count, MAX_COUNT)
    if request.filter is not None:
        matches = request.filter.match
        resources = [one for one in resources if matches(one)]
    if request.sort_by is not None:
        resources = request.sort(resources)
    return Page(resources[start : start + count], len(resources), start + 1)


def listed(
    rows: QuerySet[Any],
    request: Any,
    *,
    asked: str | None,
    columns: dict[str, str],
    shown: Callable[[Any], Any],
) -> Page:
    """A page of `rows`.

    Args:
        request: a `SearchRequest` of the resource.
        asked: the filter as it was sent.
        columns: lower-case attribute to a lookup that compares as SCIM does.
        shown: a row's resource.
    """
    start = request.start_index_0 or 0
    count = MAX_COUNT if request.count is None else min(request.count, MAX_COUNT)
    rows = rows.order_by("created_at", "pk")
    simple = _EQUALS.fullmatch(asked or "")
    if simple and simple[1].lower() in columns:
        rows = rows.filter(**{columns[simple[1].lower()]: simple[2]})
    elif request.filter is not None or request.sort_by is not None:
        return matched([shown(row) for row in rows], request)
    return Page([shown(row) for row in rows[start : start + count]], rows.count(), start + 1)
