"""Moments that clients send, as the database takes them."""

from datetime import UTC, datetime

from backend.platform.errors import InvalidRequest


def utc(moment: datetime, *, param: str) -> datetime:
    """`moment` in UTC. ISO 8601 allows offsets of nearly a day, PostgreSQL 15:59 at most.

    Raises:
        InvalidRequest: it has no time zone, or lies outside the years 1 to 9999 in UTC.
    """
    if moment.tzinfo is None:
        raise InvalidRequest(f"{param} needs a time zone, such as Z.", param=param)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidRequest(f"{param} is out of range.", param=param) from None
