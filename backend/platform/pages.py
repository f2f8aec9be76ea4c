"""Rows of a table of any size, in bounded memory and short transactions, in order of a key.

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


def delete_in_pages(rows: "QuerySet[Row]", *, by: str = "pk", size: int = PAGE) -> int:
    """Delete `rows`, each page in a transaction of its own.

    Returns how many they were; what cascades is not counted. A row that leaves `rows` meanwhile
    stays: each page is asked again as it is deleted.

    Args:
        by: the order of the pages; a column that has an index and is never null.
    """
    deleted = 0
    while True:
        page = list(rows.order_by(by).values_list("pk", by)[:size])
        _, by_model = rows.filter(pk__in=[pk for pk, _ in page]).delete()
        deleted += by_model.get(rows.model._meta.label, 0)
        if len(page) < size:
            return deleted
        rows = rows.filter(**{f"{by}__gte": page[-1][1]})  # others may share the last one's
