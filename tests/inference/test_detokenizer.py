"""Streaming gives the same text as decoding at once, and never half a character."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inference.text.detokenizer import StreamingDetokenizer

pytestmark = pytest.mark.model

TEXTS = [
    "plain words, and  two spaces",
    "日本の首都は東京です。",
    "family 👨‍👩‍👧‍👦 and flags 🇩🇪🇯🇵",
    "é combining é",
    "tabs\tand\n\nnewlines",
    "العربية עברית ไทย",
]


def chunks(tokenizer, ids: list[int]) -> list[str]:
    stream = StreamingDetokenizer(tokenizer, skip_special_tokens=False)
    return [*(stream.feed(token) for token in ids), stream.finish()]


@pytest.mark.parametrize("text", TEXTS)
def test_streamed_text_joins_to_the_text_without_replacement_characters(tokenizer, text):
    ids = tokenizer.encode(text)
    assert len(ids) > 1
    found = chunks(tokenizer, ids)
    assert "".join(found) == text
    assert not any("\ufffd" in chunk for chunk in found)


def test_emoji_is_streamed_whole_with_its_last_token(tokenizer):
    ids = tokenizer.encode("🦖")
    assert len(ids) > 1, "the test needs a character of several tokens"
    assert chunks(tokenizer, ids) == [""] * (len(ids) - 1) + ["🦖", ""]


def test_sequence_ending_inside_a_character_shows_a_replacement_character(tokenizer):
    ids = tokenizer.encode("ok 🦖")[:-1]
    assert "".join(chunks(tokenizer, ids)) == "ok \ufffd"


@given(ids=st.lists(st.integers(0, 49151), max_size=30))
def test_any_tokens_stream_to_what_they_decode_to(tokenizer, ids):
    assert "".join(chunks(tokenizer, ids)) == tokenizer.decode(ids)


@pytest.fixture(scope="module")
def known_bytes(tokenizer) -> set[bytes]:
    tokens = map(tokenizer.token_bytes, range(tokenizer.vocab_size))
    return {token for token in tokens if len(token) == 1}


@given(text=st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=60))
def test_text_survives_the_round_trip(tokenizer, known_bytes, text):
    """This vocabulary lacks the tokens of some bytes; text that needs them is left out."""
    assume(all(bytes([byte]) in known_bytes for byte in text.encode()))
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_special_tokens_are_skipped(tokenizer):
    ids = tokenizer.encode("hello<|im_end|>")
    stream = StreamingDetokenizer(tokenizer)
    assert "".join(stream.feed(token) for token in ids) == "hello"
