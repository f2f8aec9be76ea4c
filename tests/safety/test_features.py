"""Where a sentence begins, as the classifier reads a text."""

import pytest

from safety.read.normalise import Vocabulary
from safety.score.features import NormalizedText, normalized

VOCABULARY = Vocabulary(["go", "skiing", "good"])


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", []),
        ("one two three", [0]),
        ("It rains. Go home! Why? Because.", [0, 2, 4, 5]),
        ("version 3.5 of it, as I said", [0]),
        ("a list:\n- first\n- second thing", [0, 2, 3]),
        ('He said: "Stop it." Then he went.', [0, 2, 4]),
        ("第一句。第二句", [0, 3]),
        ("we go sk!!ng today. Ideas?", [0, 4]),
        ("now g. o. o. d. evening all", [0, 2]),
    ],
)
def test_sentence_begins_after_the_end_of_another(text: str, starts: list[int]) -> None:
    assert normalized(text, VOCABULARY).starts == starts


def test_digits_are_one_word() -> None:
    assert normalized("Call 5551234 now", VOCABULARY) == NormalizedText(["call", "0", "now"], [0])


def test_megabyte_of_full_stops_ends_one_sentence() -> None:
    text = "word" + ". " * 250_000 + "word" + "." * 500_000 + "word"
    assert normalized(text, VOCABULARY).starts == [0, 1]
