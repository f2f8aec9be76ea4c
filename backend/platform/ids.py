"""Ids that begin with the time (UUID version 7, RFC 9562 section 5.7).

Rows that are written together lie together in an index of them, where random ones are written all
over it; and an id says in which month its row was made, which partitions of such tables need.
"""

import os
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VERSION = 7 << 76
_VARIANT = 0b10 << 62


def time_ordered_id() -> UUID:
    """48 bits of milliseconds since 1970, 74 random ones."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    high = (random >> 62) & 0xFFF
    low = random & ((1 << 62) - 1)
    return UUID(int=(milliseconds << 80) | _VERSION | (high << 64) | _VARIANT | low)


def derived_id(source: UUID, name: str) -> UUID:
    """The id that `name` has beside `source`, always the same one. It says the time of `source`
    where that does."""
    derived = uuid5(source, name)
    if time_of_id(source) is None:
        return derived
    time_bits = source.int >> 80 << 80
    random_bits = derived.int & ((0xFFF << 64) | ((1 << 62) - 1))
    return UUID(int=time_bits | _VERSION | _VARIANT | random_bits)


def time_of_id(one: UUID) -> datetime | None:
    """When it was made, to the millisecond; None: it is of another version, and does not say."""
    if one.int >> 76 & 0xF != 7:
        return None
    return _EPOCH + timedelta(milliseconds=one.int >> 80)
