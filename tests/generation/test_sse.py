"""The framing of server-sent events does not depend on where the bytes were cut."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from backend.platform.sse import EventDecoder

STREAM = (
    b': ping\n\ndata: {"a": 1}\n\nevent: x\ndata: two\ndata: lines\n\n'
    b"data:no space\r\n\r\nid: 7\r\ndata: crlf\r\n\r\ndata: cr\r\rdata: [DONE]\n\n"
)
EVENTS = [b'{"a": 1}', b"two\nlines", b"no space", b"crlf", b"cr", b"[DONE]"]


def test_parser_reads_everything_the_standard_allows() -> None:
    assert EventDecoder().feed(STREAM) == EVENTS


@given(st.sets(st.integers(1, len(STREAM) - 1)))
def test_parsed_events_do_not_depend_on_chunk_borders(cuts: set[int]) -> None:
    decoder = EventDecoder()
    borders = [0, *sorted(cuts), len(STREAM)]
    found: list[bytes] = []
    for start, end in itertools.pairwise(borders):
        found += decoder.feed(STREAM[start:end])
    assert found == EVENTS
