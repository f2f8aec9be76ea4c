"""Lists of items as OpenAI pages them."""

from typing import Any, Literal

from backend.platform.errors import InvalidRequest

Order = Literal["asc", "desc"]


def page_of(
    items: list[dict[str, Any]], *, limit: int, order: Order, after: str | None
) -> dict[str, Any]:
    """A page of `items`, which are given oldest first.

    Args:
        after: the id of the last item of the page before.
    Raises:
        InvalidRequest: there is no item `after`.
    """
    ordered = items if order == "asc" else items[::-1]
    if after is not None:
        places = [at for at, item in enumerate(ordered) if item["id"] == after]
        if not places:
            raise InvalidRequest(f"There is no item '{after[:64]}'.", param="after")
        ordered = ordered[places[0] + 1 :]
    shown = ordered[:limit]
    return {
        "object": "list",
        "data": shown,
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
        "has_more": len(ordered) > limit,
    }
