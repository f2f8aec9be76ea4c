"""The checks of `make eval` tell a right answer from a wrong one."""

from __future__ import annotations

import pytest

from inference.bench.quality import arithmetic, instructions, ordinary, structured
from inference.text.template_mends import mended

EXAMPLES = {
    "exactly three bullet points": ("- a\n- b\n- c", "- a\n- b"),
    "exactly two sentences": ("It is wide. It is deep.", "It is wide."),
    "fewer than 30 words": ("It is wide.", "word " * 30),
    "at least 80 words": ("word " * 80, "word " * 79),
    "lower case letters only": ("it is wide.", "It is wide."),
    "IN CAPITAL LETTERS": ("IT IS WIDE.", "It is wide."),
    "two paragraphs": ("One.\n\nTwo.", "One.\nTwo."),
    "without any comma": ("It is wide.", "Wide, deep."),
    "end with the exact words": ("Wide. That is all.", "That is all. Bye."),
    "Begin your answer": ("Listen: it is wide.", "It is wide."),
    "between double quotes": ('"It is wide."', "It is wide."),
    "lantern at least twice": ("A lantern, two lanterns.", "A lantern."),
    "without using the word and": ("Wide. Deep. Blue.", "Wide and deep."),
    "double angular brackets": ("<<The sea>>", "<The sea>"),
    "JSON object": ('{"title": "a", "text": "b"}', "title: a"),
}


@pytest.mark.parametrize("asked", EXAMPLES)
def test_check_of_an_instruction_takes_the_right_form_only(asked):
    found = [case for case in instructions.cases() if asked in case.prompt]
    right, wrong = EXAMPLES[asked]
    assert found
    assert all(case.is_right(right) and not case.is_right(wrong) for case in found)


def test_every_instruction_has_an_example():
    assert all(any(asked in case.prompt for asked in EXAMPLES) for case in instructions.cases())


def test_last_number_of_an_answer_counts():
    assert arithmetic.last_number("From 12 to 1,050 is far.\n\n1,038.0") == 1038
    assert arithmetic.last_number("I do not know.") is None


def test_json_is_taken_from_a_fence_and_must_have_the_keys():
    [first, *_] = structured.by_words()
    assert first.is_right('```json\n{"name": "Maria Lopez", "age": 34}\n```')
    assert not first.is_right('{"name": "Maria Lopez"}')
    assert not first.is_right('{"name": "Maria Lopez", "age": 34} That is all.')


def test_refusals_are_found_by_their_beginning():
    assert ordinary.refuses("I'm sorry, but I can't help with that.")
    assert not ordinary.refuses("Use `kill -9`, sorry to say.")


def test_template_with_a_known_mistake_is_mended_and_no_other():
    wrong = (
        r"{{- '<tool_call>\n{{\"name\": <function-name>, \"arguments\": <args-json-object>}}"
        r"\n</tool_call><|im_end|>\n' }}"
    )
    right = mended(wrong)
    assert r"\n{\"name\"" in right and "{{\\" not in right and "plain words" in right
    assert right.endswith(r"plain words.<|im_end|>\n' }}")
    assert mended(right) == right
