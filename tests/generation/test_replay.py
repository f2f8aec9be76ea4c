"""What an event carries for a process that takes a generation over."""

import msgspec

from backend.generation.run.replay import EventMeta
from backend.generation.usage import Usage


def test_metadata_comes_back_as_it_was_written() -> None:
    meta = EventMeta(1, 7, Usage(input_tokens=10, cached_input_tokens=4))
    assert EventMeta.decoded(meta.encoded()) == meta


def test_processes_of_the_version_before_read_the_numbers_that_they_know() -> None:
    """They and we continue each other's generations while one replaces the other."""
    meta = EventMeta(1, 7, Usage(input_tokens=10, cached_input_tokens=4))
    assert msgspec.msgpack.decode(meta.encoded())[:4] == [1, 7, 10, 4]
    assert EventMeta.decoded(msgspec.msgpack.encode([1, 7, 10, 4])) == meta
    assert EventMeta.decoded(msgspec.msgpack.encode([1, 7])) == EventMeta(1, 7)
