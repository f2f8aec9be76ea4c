"""Ids that begin with the time."""

import time
from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID, uuid4

from backend.platform.ids import time_of_id, time_ordered_id


def test_ids_are_of_version_7_differ_and_say_when_they_were_made() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    made = [time_ordered_id() for _ in range(10_000)]
    after = datetime.now(UTC)
    assert len(set(made)) == len(made)
    for one in made:
        assert (one.version, one.variant) == (7, RFC_4122)
        moment = time_of_id(one)
        assert moment is not None
        assert before <= moment <= after


def test_all_but_time_version_and_variant_is_random() -> None:
    made = [time_ordered_id().int for _ in range(2_000)]
    fixed = (0xFFFF_FFFF_FFFF << 80) | (0xF << 76) | (0b11 << 62)
    for bit in range(128):
        if not fixed >> bit & 1:
            assert {one >> bit & 1 for one in made} == {0, 1}, bit


def test_ids_are_ordered_by_the_millisecond() -> None:
    first = time_ordered_id()
    time.sleep(0.002)
    assert first < time_ordered_id()


def test_example_of_the_standard_says_its_time_and_other_versions_none() -> None:
    # RFC 9562, appendix A.6.
    example = UUID("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")
    assert time_of_id(example) == datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC)
    assert time_of_id(uuid4()) is None
