"""Lists of rows as OpenAI pages them: by creation, after an id."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from django.db.models import Model, Q, QuerySet

from backend.platform.errors import InvalidRequest

Order = Literal["asc", "desc"]
Row = TypeVar("Row", bound=Model)


def rows_page(
    rows: QuerySet[Row],
    shown: Callable[[Row], dict[str, Any]],
    *,
    limit: int,
    after: Row | None,
    order: Order = "desc",
) -> dict[str, Any]:
    """A page of `rows`, which have `created_at`; `after` is the last row of the page before."""
    sign, beyond = ("", "gt") if order == "asc" else ("-", "lt")
    if after is not None:
        created = getattr(after, "created_at")  # noqa: B009  (not every Model has it)
        rows = rows.filter(
            Q(**{f"created_at__{beyond}": created})
            | Q(created_at=created, **{f"pk__{beyond}": after.pk})
        )
    found = list(rows.order_by(f"{sign}created_at", f"{sign}pk")[: limit + 1])
    data = [shown(row) for row in found[:limit]]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": len(found) > limit,
    }


def no_such_page(after: str) -> InvalidRequest:
    return InvalidRequest(f"There is nothing with the id '{after[:64]}'.", param="after")
