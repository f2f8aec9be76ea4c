"""Periods of billing: calendar months and days, in UTC."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend.platform.errors import InvalidRequest

RECONCILED = timedelta(hours=48)
"""Reconciliation compares the ledger with the event store for so long, and publishes what is
missing."""

_MONTH = re.compile(r"(\d{4})-(\d{2})")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_LAST_DAYS = re.compile(r"last_(\d{1,3})_days")


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` up to, and without, `end`."""

    name: str
    start: datetime
    end: datetime


def month_of(moment: datetime) -> Period:
    moment = moment.astimezone(UTC)
    start = datetime(moment.year, moment.month, 1, tzinfo=UTC)
    return Period(f"{start:%Y-%m}", start, next_month(start))


def next_month(start: datetime) -> datetime:
    return (start + timedelta(days=32)).replace(day=1)


def months_between(start: datetime, end: datetime) -> set[datetime]:
    """The months that begin after `start` and before `end`."""
    months: set[datetime] = set()
    month = month_of(start).end
    while month < end:
        months.add(month)
        month = next_month(month)
    return months


def parse_period(text: str, *, now: datetime) -> Period:
    """Read `2026-11`, `2026-11-21` or `last_30_days` (the last one being today, UTC).

    Raises:
        InvalidRequest: anything else, or no such day.
    """
    try:
        if match := _LAST_DAYS.fullmatch(text):
            days = int(match[1])
            if not 1 <= days <= 366:
                raise ValueError(text)
            end = _midnight(now) + timedelta(days=1)
            return Period(text, end - timedelta(days=days), end)
        if match := _MONTH.fullmatch(text):
            return month_of(datetime(int(match[1]), int(match[2]), 1, tzinfo=UTC))
        if match := _DAY.fullmatch(text):
            start = datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
            return Period(text, start, start + timedelta(days=1))
    except (ValueError, OverflowError) as error:
        raise _no_period(text) from error
    raise _no_period(text)


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _no_period(text: str) -> InvalidRequest:
    return InvalidRequest(
        f"{text[:40]!r} is not a period: use 2026-11, 2026-11-21 or last_30_days.", param="period"
    )
