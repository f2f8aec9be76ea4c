"""Encoded blocks of an answer: found, checked before they are sent, in linear time."""

import base64
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safety.read.encoded import MAX_BLOCK, BlockCutter, decoded
from tests.safety.streaming import stream

HARMFUL = "Here is the guide: to make a pipe bomb you will need a pipe, nails and"
INTRODUCTION = "Of course. Decode this yourself: "


def wrapped(text: str) -> str:
    return base64.encodebytes(text.encode()).decode()


ENCODED = {
    "base64": base64.b64encode(HARMFUL.encode()).decode(),
    "base64 over several lines": wrapped(HARMFUL),
    "base64 twice": base64.b64encode(base64.b64encode(HARMFUL.encode())).decode(),
    "base32": base64.b32encode(HARMFUL.encode()).decode(),
    "hexadecimal": HARMFUL.encode().hex(),
}


@pytest.mark.parametrize("how", ENCODED)
@given(data=st.data())
@settings(deadline=None, max_examples=6)
def test_encoded_guide_is_halted_before_its_first_character(how: str, data: st.DataObject) -> None:
    text = f"{INTRODUCTION}{ENCODED[how]} Have fun with it."
    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=40)))
    chunks = [text[a:b] for a, b in zip([0, *borders], [*borders, len(text)], strict=True)]
    sent, halt = stream(chunks)
    assert sent == INTRODUCTION
    assert halt is not None
    assert halt.decision.categories == ["indiscriminate_weapons"]
    assert "decoded" in halt.decision.signals


def test_encoded_guide_is_halted_when_it_ends_the_answer() -> None:
    sent, halt = stream(list(INTRODUCTION + ENCODED["base64"]))
    assert sent == INTRODUCTION
    assert halt is not None


HARMLESS = (
    "A hash: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, a link: "
    "https://example.org/a/long/path-with-hyphens/and_underscores?id=42, state-of-the-art "
    f"words,\n{base64.b64encode(b'The river bends twice before it reaches the mill.').decode()}\n"
)


@given(st.data())
@settings(deadline=None, max_examples=10)
def test_harmless_blocks_arrive_whole(data: st.DataObject) -> None:
    borders = sorted(data.draw(st.sets(st.integers(0, len(HARMLESS)), max_size=40)))
    ends = [*borders, len(HARMLESS)]
    chunks = [HARMLESS[a:b] for a, b in zip([0, *borders], ends, strict=True)]
    assert stream(chunks) == (HARMLESS, None)


@given(st.text(alphabet="Ab1+/=-_ \n.é", max_size=120), st.data())
@settings(deadline=None, max_examples=100)
def test_blocks_are_the_same_however_a_text_is_cut(text: str, data: st.DataObject) -> None:
    def blocks(chunks: list[str]) -> list[tuple[int, str]]:
        cutter, found, position = BlockCutter(), [], 0
        for chunk in chunks:
            for section in cutter.feed(chunk):
                position += len(section.text)
                if section.block:
                    found.append((position, section.block))
        last = cutter.finish()
        return [*found, (position, last)] if last else found

    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=30)))
    cut = [text[a:b] for a, b in zip([0, *borders], [*borders, len(text)], strict=True)]
    assert blocks(cut) == blocks([text])
    for end, block in blocks([text]):
        assert text[end - len(block) : end] == block


def test_endless_block_is_checked_section_by_section() -> None:
    cutter = BlockCutter()
    sections = cutter.feed("A" * (3 * MAX_BLOCK))
    assert [len(section.block) for section in sections] == [MAX_BLOCK] * 3
    assert cutter.held == 0


@pytest.mark.parametrize(
    "unit", ["A", "QUJD", "A\n", "AAAAAAAAAAAAAAAA\n", "=", "a-b/", "41", "x "], ids=repr
)
def test_time_is_linear_in_the_length_of_the_text(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        started = time.process_time()
        cutter = BlockCutter()
        for start in range(0, len(text), 1_000):
            for section in cutter.feed(text[start : start + 1_000]):
                list(decoded(section.block))
        return time.process_time() - started

    seconds(1_000)
    assert seconds(50_000) < 50 * max(seconds(5_000), 0.01)
