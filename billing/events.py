"""The usage event on the wire, `usage.recorded.v1`: built and read here only.

schemas/usage.recorded.v1.json is the contract for other consumers. Reading goes through
msgspec because the aggregator decodes thousands a second; a property test holds the two to
the same verdict on every message.
"""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from billing.models import UsageRecord
from billing.quantities import TokenCounts

TOPIC_RECORDED = "usage.recorded"
TOPIC_REJECTED = "usage.rejected"
SCHEMA_V1 = "usage.recorded.v1"
SCHEMA_PATH = Path(__file__).parent / "schemas" / f"{SCHEMA_V1}.json"

Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Id = Annotated[
    str, msgspec.Meta(pattern="^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\Z")
]


class UsageRecorded(msgspec.Struct, frozen=True, gc=False):
    """One decoded event; attributes as in the schema. Ids stay strings: they go into a COPY.

    Fields that it does not know are passed over: the log holds events of newer and older code.
    """

    schema: Literal["usage.recorded.v1"]
    event_id: Id
    occurred_at: Annotated[
        str,
        msgspec.Meta(
            pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|\+00:00)\Z"
        ),
    ]
    organization_id: Id
    project_id: Id
    user_id: Id
    key_id: Id | None
    model: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    pool: Annotated[str, msgspec.Meta(max_length=200)]
    input_tokens: Count
    cached_input_tokens: Count
    output_tokens: Count
    state: Literal["completed", "cancelled", "blocked", "failed"]
    ttft_ms: Count | None
    duration_ms: Count
    client_hash: Annotated[str, msgspec.Meta(max_length=64)] = ""
    reasoning_tokens: Count = 0
    audio_seconds: Count = 0
    spoken_characters: Count = 0
    image_tokens: Count = 0
    cached_output_tokens: Count = 0
    counts_as_abuse: bool = True


class EventRejected(Exception):
    """The message is no event of a known version; the text says why, for `usage.rejected`."""


_decoder = msgspec.json.Decoder(UsageRecorded)


def decode(message: bytes) -> UsageRecorded:
    """Read one message of the topic.

    Raises:
        EventRejected: not JSON, another schema version, or against the schema.
    """
    try:
        event = _decoder.decode(message)
        datetime.fromisoformat(event.occurred_at)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise EventRejected(str(error)) from error
    if "\x00" in event.model or "\x00" in event.pool or "\x00" in event.client_hash:
        raise EventRejected("a string holds the character U+0000, which PostgreSQL cannot store")
    return event


def encode(
    record: UsageRecord, *, client_hash: str = "", counts_as_abuse: bool = True
) -> dict[str, Any]:
    """The event of a ledger record.

    Args:
        client_hash, counts_as_abuse: for the abuse detector; the ledger has neither.
    """
    return {
        "schema": SCHEMA_V1,
        "event_id": str(record.generation_id),
        "occurred_at": timestamp(record.occurred_at),
        "organization_id": str(record.organization_id),
        "project_id": str(record.project_id),
        "user_id": str(record.user_id),
        "key_id": _id_or_none(record.key_id),
        "model": record.model,
        "pool": record.pool,
        **TokenCounts.of(record).columns(),
        "state": str(record.state),
        "ttft_ms": record.ttft_ms,
        "duration_ms": record.duration_ms,
        "client_hash": client_hash,
        "counts_as_abuse": counts_as_abuse,
    }


def timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


@cache
def json_schema() -> dict[str, Any]:
    """The published schema, for consumers and tests."""
    schema: dict[str, Any] = msgspec.json.decode(SCHEMA_PATH.read_bytes())
    return schema


def _id_or_none(value: UUID | None) -> str | None:
    return None if value is None else str(value)
