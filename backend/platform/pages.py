"""Rows of a table of any size, in bounded memory, in order of a key.

Pages by key and not a cursor: behind a pooler in transaction mode there is none outside a
transaction, and one transaction for all would hold back every clean-up of the database meanwhile.
What is written between two pages may be seen or not; no row is returned twice.
"""

from collections.abc import Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
PAGE = 1000


def in_pages(rows: "QuerySet[Row]", *, by: str = "pk", size: int = PAGE) -> Iterator[Row]:
    """The instances of `rows`, which is filtered, neither sliced nor ordered.

    Args:
        by: a column that no two of them share.
    """
    ordered = rows.order_by(by)
    page = list(ordered[:size])
    while page:
        last = getattr(page[-1], by)  # the caller may delete the row, which then has no key
        yield from page
        if len(page) < size:
            return
        page = list(ordered.filter(**{f"{by}__gt": last})[:size])
