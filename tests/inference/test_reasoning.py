"""Thoughts are told from answers, family by family, wherever the stream is cut."""

from __future__ import annotations

import pytest

from inference.errors import InvalidRequestError
from inference.text.chat_template import ChatTemplate
from inference.text.reasoning import (
    HARMONY,
    THINK,
    ReasoningFormat,
    ReasoningParser,
    Thought,
    reasoning_format_of,
)


def read_apart(parser: ReasoningParser, chunks: list[str]) -> tuple[str, str]:
    parts = [part for chunk in chunks for part in parser.feed(chunk)] + parser.finish()
    thought = "".join(part.text for part in parts if isinstance(part, Thought))
    return thought, "".join(part for part in parts if isinstance(part, str))


ANSWERS = [
    (THINK, "<think>\nA < b.\n</think>\n\nHello", "A < b.", "Hello"),
    (THINK, "<think>\n\n</think>\n\nHello", "", "Hello"),
    (THINK, "\n<think>See </thin gs</think>Hi </think>", "See </thin gs", "Hi </think>"),
    (THINK, "Hello <think> no", "", "Hello <think> no"),
    (THINK, "<thin", "", "<thin"),
    (THINK, "<think>\nCut of</th", "Cut of</th", ""),
    (
        HARMONY,
        "<|channel|>analysis<|message|>We greet.<|end|><|start|>assistant"
        "<|channel|>final<|message|>Hello",
        "We greet.",
        "Hello",
    ),
    (
        HARMONY,
        "<|channel|>analysis<|message|>We call.<|end|><|start|>assistant"
        "<|channel|>commentary to=functions.f",
        "We call.",
        "<|channel|>commentary to=functions.f",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("form", "text", "thought", "answer"), ANSWERS)
def test_thought_is_split_from_answer_wherever_the_text_is_cut(
    form: ReasoningFormat, text: str, thought: str, answer: str
) -> None:
    assert read_apart(ReasoningParser(form), list(text)) == (thought, answer)
    for cut in range(len(text) + 1):
        assert read_apart(ReasoningParser(form), [text[:cut], text[cut:]]) == (thought, answer)


@pytest.mark.parametrize(("form", "text", "thought", "answer"), ANSWERS)
def test_continued_answer_is_the_whole_one(
    form: ReasoningFormat, text: str, thought: str, answer: str
) -> None:
    """What was told by the cut is written back, and the rest goes on from there."""
    for cut in range(len(text) + 1):
        parser = ReasoningParser(form)
        parts = parser.feed(text[:cut])
        known = "".join(part.text for part in parts if isinstance(part, Thought))
        said = "".join(part for part in parts if isinstance(part, str))
        if not known:
            continue
        written = "".join(t for t, _ in form.text_of(known, opened=False, ended=bool(said)))
        again = ReasoningParser(form)
        assert read_apart(again, [written + said]) == (known, said)


def template(source: str) -> ChatTemplate:
    return ChatTemplate(source, special_tokens=(), bos_token=None, eos_token=None)


SWITCHED = (
    "{{ messages[0].content }}{% if add_generation_prompt %}{{ '<a>' }}"
    "{% if enable_thinking is defined and not enable_thinking %}"
    "{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}"
)
OPENED = "{{ messages[0].content }}{% if add_generation_prompt %}{{ '<a><think>\n' }}{% endif %}"
GRADED = "{{ '<|channel|>analysis' }}{{ reasoning_effort or 'medium' }}{{ messages[0].content }}"
PLAIN = "{{ messages[0].content }}{% if add_generation_prompt %}<a>{% endif %}"


@pytest.mark.parametrize(
    ("source", "form", "opens"),
    [
        (SWITCHED, THINK, False),
        (OPENED, THINK, True),
        (GRADED, HARMONY, False),
        (PLAIN, None, False),
    ],
)
def test_family_is_known_by_its_template(
    source: str, form: ReasoningFormat | None, opens: bool
) -> None:
    assert reasoning_format_of(source) is form
    segments = template(source).render(
        [{"role": "user", "content": "hi"}], add_generation_prompt=True
    )
    assert template(source).opens_thought(segments) is opens


@pytest.mark.parametrize(
    ("source", "effort", "variables"),
    [
        (SWITCHED, "none", {"enable_thinking": False}),
        (SWITCHED, "minimal", {"enable_thinking": False}),
        (SWITCHED, "high", {"enable_thinking": True}),
        (GRADED, "low", {"reasoning_effort": "low"}),
        (GRADED, "high", {"reasoning_effort": "high"}),
        (PLAIN, "none", {}),
        (PLAIN, None, {}),
    ],
)
def test_effort_becomes_what_the_template_knows(
    source: str, effort: str | None, variables: dict[str, object]
) -> None:
    assert template(source).effort_variables(effort) == variables


@pytest.mark.parametrize(
    ("source", "effort"), [(PLAIN, "low"), (OPENED, "none"), (OPENED, "high"), (GRADED, "none")]
)
def test_effort_that_a_template_does_not_know_is_refused_by_name(source: str, effort: str) -> None:
    with pytest.raises(InvalidRequestError) as refusal:
        template(source).effort_variables(effort)
    assert refusal.value.param == "reasoning_effort"


def test_white_space_within_a_continued_thought_is_kept() -> None:
    assert read_apart(ReasoningParser(THINK, continues=True), [" more", "</think>\nHi"]) == (
        " more",
        "Hi",
    )
    assert read_apart(ReasoningParser(THINK, opened=True), ["\n more</think>Hi"]) == ("more", "Hi")
