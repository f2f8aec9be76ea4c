"""Pages of lists that are ordered by when a row was made: after a row, so many rows.

The place is the id of the last row that was shown, as OpenAI's administration API has it. It
carries no authority: the query that it continues is scoped like the first.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

from backend.platform.errors import InvalidRequest

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Attributes:
    next_cursor: the id of the last row; None where no further one follows.
    """

    items: list[Row]
    next_cursor: str | None


def page_after(
    rows: QuerySet[Row],
    *,
    after: str | None,
    limit: int,
    key: str = "pk",
    newest_first: bool = False,
) -> Page[Row]:
    """The `limit` rows that follow the one whose `key` is `after`, in order of `created_at`.

    Args:
        rows: scoped to the caller.
        key: the field by which rows are named, unique within `rows`.
    Raises:
        InvalidRequest: `after` names no row of the list.
    """
    sign, compare = ("-", "lt") if newest_first else ("", "gt")
    if after is not None:
        last = _row(rows, key, after)
        rows = rows.filter(
            Q(**{f"created_at__{compare}": last.created_at})  # type: ignore[attr-defined]
            | Q(created_at=last.created_at, **{f"pk__{compare}": last.pk})  # type: ignore[attr-defined]
        )
    found = list(rows.order_by(f"{sign}created_at", f"{sign}pk")[: limit + 1])
    items = found[:limit]
    more = len(found) > limit
    return Page(items, _name_of(items[-1], key) if more else None)


def _row(rows: QuerySet[Row], key: str, after: str) -> Row:
    try:
        last = rows.filter(**{key: after}).first()
    except (ValidationError, ValueError):
        last = None
    if last is None:
        raise InvalidRequest(f"after: the list has no {after[:100]!r}.", param="after")
    return last


def _name_of(row: Any, key: str) -> str:
    for part in key.split("__"):
        row = getattr(row, part)
    return str(row)
