"""Nothing of a stop string is ever released, wherever the text was cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from inference.text.stop_strings import StopStrings

LETTERS = st.text("ab", max_size=24)
STOPS = st.lists(st.text("ab", min_size=1, max_size=5), max_size=3)


def feed_in_chunks(text: str, cuts: list[int], stops: tuple[str, ...]) -> tuple[str, bool]:
    found = StopStrings(stops)
    borders = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    out = ""
    for begin, end in pairwise(borders):
        released, stopped = found.feed(text[begin:end])
        out += released
        if stopped:
            return out, True
    return out + found.finish(), False


@given(text=LETTERS, cuts=st.lists(st.integers(0, 30)), stops=STOPS)
@example(text="aab", cuts=[1, 2], stops=["ab"])
def test_released_text_ends_before_the_first_stop_string(text, cuts, stops):
    released, stopped = feed_in_chunks(text, cuts, tuple(stops))
    # The stop string that is complete first ends the text, as token by token it would.
    ends = [at + len(stop) for stop in stops if (at := text.find(stop)) >= 0]
    assert stopped == bool(ends)
    assert text.startswith(released)
    if stopped:
        assert not any(stop in released for stop in stops)
        assert any(text[len(released) :].startswith(stop) for stop in stops)
    else:
        assert released == text


@given(text=LETTERS, stops=STOPS)
def test_released_text_never_ends_with_a_prefix_of_a_following_stop_string(text, stops):
    found = StopStrings(tuple(stops))
    out = ""
    for character in text:
        released, stopped = found.feed(character)
        out += released
        if stopped:
            break
    assert not any(stop in out for stop in stops)


def test_stop_string_that_was_met_is_named():
    found = StopStrings(("END", "STOP"))
    assert found.feed("It is STO") == ("It is ", False)
    assert found.found is None
    assert found.feed("P here END") == ("", True)
    assert found.found == "STOP"
