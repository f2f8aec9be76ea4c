"""Personal data is found, verified and taken out of a stream."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safety.score.personal_data import KINDS, luhn_valid, redact
from safety.stream.redactor import Redactor

SAMPLES = {
    "card_number": "4111 1111 1111 1111",
    "secret_key": "ghp_" + "a1B2" * 9,
    "email": "ada.lovelace@example.org",
    "iban": "DE89 3704 0044 0532 0130 00",
    "national_id": "078-05-1120",
    "phone": "+49 30 901820",
}


@pytest.mark.parametrize(("kind", "sample"), SAMPLES.items(), ids=list(SAMPLES))
def test_personal_data_is_replaced_by_its_kind(kind: str, sample: str) -> None:
    masked = f"[{kind.replace('_', ' ')} removed]"
    assert redact(f"Take {sample}, please.", {kind}) == f"Take {masked}, please."


@pytest.mark.parametrize(
    "text",
    [
        "The order number is 4111 1111 1111 1112.",
        "In 1999 and 2003 it cost 12,500.00 euros.",
        "pi is 3.14159265358979323846",
        "Call extension 42.",
        "user@localhost is no address",
        "DE00 1234 5678 9012 3456 00",
    ],
)
def test_text_that_only_looks_like_personal_data_stays(text: str) -> None:
    assert redact(text, set(KINDS) - {"phone"}) == text


@given(st.text("0123456789", min_size=12, max_size=18))
def test_exactly_one_check_digit_satisfies_luhn(body: str) -> None:
    assert sum(luhn_valid(body + digit) for digit in "0123456789") == 1


KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQ\nIBADANBg\n-----END PRIVATE KEY-----"
_CHUNKS = st.sampled_from(
    [
        *SAMPLES.values(),
        KEY,
        " ",
        "\n",
        " and ",
        "1999 ",
        "The ",
        "12 ",
        "x@",
        ", ",
        "a-",
        "+4",
        ".",
    ]
)


@given(st.lists(_CHUNKS, max_size=14), st.data())
@settings(deadline=None, max_examples=100)
def test_redaction_is_the_same_however_a_stream_is_cut(
    chunks: list[str], data: st.DataObject
) -> None:
    text = "".join(chunks)
    whole = Redactor(KINDS)
    expected = whole.feed(text) + whole.finish()
    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=40)))
    cut = Redactor(KINDS)
    sent = "".join(
        cut.feed(text[a:b]) for a, b in zip([0, *borders], [*borders, len(text)], strict=True)
    )
    assert sent + cut.finish() == expected


_PROSE = st.sampled_from(
    [
        *(" a", "I ", " don't", "rider's ", " the", " wheel", "\n", "\n\n", ". ", " skill"),
        *(
            "eyes ",
            "'",
            "x'y ",
            " sk",
            "-",
            "sk-",
            "AKIA",
            "0123456789ABCDEF ",
            "ghp_",
            "a" * 36,
            " AI",
        ),
        *("4111 ", "1111", KEY),
    ]
)


@given(st.lists(_PROSE, max_size=20), st.data())
@settings(deadline=None, max_examples=150)
def test_prose_with_secret_keys_is_redacted_the_same_however_it_is_cut(
    chunks: list[str], data: st.DataObject
) -> None:
    kinds = {"secret_key", "card_number", "private_key"}
    text = "".join(chunks)
    letters = Redactor(kinds)
    expected = "".join(map(letters.feed, text)) + letters.finish()
    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=20)))
    cut = Redactor(kinds)
    sent = "".join(
        cut.feed(text[a:b]) for a, b in zip([0, *borders], [*borders, len(text)], strict=True)
    )
    assert sent + cut.finish() == expected


@pytest.mark.parametrize(
    "parts",
    [
        ("A good one", " recovers from a push.\n\nYou", " can try that, don't you", "? "),
        ("The rider's\nweight ", "turns", " a wheel."),
    ],
)
def test_prose_passes_as_it_comes(parts: tuple[str, ...]) -> None:
    redactor = Redactor({"secret_key", "card_number", "private_key"})
    assert tuple(map(redactor.feed, parts)) == parts


def test_private_key_is_removed_to_its_last_line() -> None:
    redactor = Redactor({"private_key"})
    assert redactor.feed(f"Here:\n{KEY}\nDone. ") + redactor.finish() == (
        "Here:\n[private key removed]\nDone. "
    )


def test_personal_data_from_the_prompt_is_not_redacted() -> None:
    redactor = Redactor({"email"}, context="My address is ada.lovelace@example.org.")
    text = "I will write to ada.lovelace@example.org and not to bob@example.org today."
    assert redactor.feed(text) + redactor.finish() == (
        "I will write to ada.lovelace@example.org and not to [email removed] today."
    )


def test_word_without_digits_is_not_held_back() -> None:
    redactor = Redactor(KINDS)
    assert redactor.feed("plain words ") == "plain words "
    assert redactor.feed("call 555 ") == "call "
    assert redactor.feed("now ") == "555 now "
