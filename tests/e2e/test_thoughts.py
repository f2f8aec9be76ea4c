"""What a model thinks before it answers, on the page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, Visitor
from tests.support.scripted import ScriptedProduct

THOUGHT = "Seven times eight is fifty-six, so that is what to say."


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_thought_is_folded_above_its_answer_and_opens_after_a_reload_too(
    person: Person, scripted_product: ScriptedProduct
) -> None:
    page = person.page
    scripted_product.says("It is 56.", thought=THOUGHT)
    person.say("What is 7 times 8?")
    expect(person.answer).to_contain_text("It is 56.")
    summary = page.get_by_text("Thought for")
    thought = page.get_by_text(THOUGHT)
    for state in ("as it came", "reloaded"):
        if state == "reloaded":
            page.reload()
        expect(summary).to_be_visible()
        expect(thought).to_be_hidden()
        summary.focus()
        page.keyboard.press("Enter")
        expect(thought).to_be_visible()
    assert_accessible(page, "a thought")
