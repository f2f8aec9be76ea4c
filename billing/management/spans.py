"""`--from` and `--to` of the commands: days or hours, UTC."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError


def add_span_arguments(parser: ArgumentParser) -> None:
    text = "2026-11-21 or 2026-11-21T15, UTC"
    parser.add_argument("--from", dest="start", required=True, help=text)
    parser.add_argument("--to", dest="end", required=True, help=f"{text}; not included")


def span_of(options: dict[str, Any]) -> tuple[datetime, datetime]:
    """Raises CommandError for anything that is not a span of whole hours."""
    start, end = _hour(options["start"]), _hour(options["end"])
    if start >= end:
        raise CommandError("--from must come before --to.")
    return start, end


def _hour(text: str) -> datetime:
    for layout in ("%Y-%m-%d", "%Y-%m-%dT%H"):
        try:
            return datetime.strptime(text, layout).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise CommandError(f"{text!r} is neither a day (2026-11-21) nor an hour (2026-11-21T15).")
