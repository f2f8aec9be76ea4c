"""What lies behind an answer: instructions, what the model thought, what was really sent."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

THOUGHT = "Sodium chloride is salt, so that is what to say."
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_prompt_as_it_was_sent_a_thought_and_a_stored_answer_can_be_looked_at(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Arr, salt it be.", thought=THOUGHT)
    person: Person = sign_up()
    page = person.page
    person.open("/settings")
    page.get_by_role("textbox", name="About you").fill("I teach chemistry.")
    page.get_by_role("button", name="Save instructions").click()
    expect(page.get_by_text("Your instructions are saved.")).to_be_visible()

    person.go("/")
    page.get_by_role("button", name="Chat settings").click()
    dialog = page.get_by_role("dialog", name="Chat settings")
    dialog.get_by_role("textbox", name="Instructions").fill("Speak as a pirate.")
    dialog.get_by_text("Advanced").click()
    dialog.get_by_role("spinbutton", name="Temperature").fill("0.3")
    assert_accessible(page, "chat settings")
    keep_image(page, "settings")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()

    person.composer.fill("What is this white powder?")
    page.get_by_role("button", name="Send", exact=True).click()  # Enter breaks a phone's line
    expect(person.answer).to_contain_text("salt it be")
    person.wait_for_the_end()
    thought_is_folded_above_its_answer(page)
    page.reload()
    thought_is_folded_above_its_answer(page)
    assert_accessible(page, "a thought")

    person.answer.get_by_role("button", name="More about this answer").click()
    page.get_by_role("menuitem", name="What was sent").click()
    sent = page.get_by_role("dialog", name="What was sent")
    for said in ("Speak as a pirate.", "I teach chemistry.", "What is this white powder?", "0.3"):
        expect(sent).to_contain_text(said)
    assert_accessible(page, "what was sent")
    keep_image(page, "sent")
    page.keyboard.press("Escape")
    stored_answer_is_switched_on_given_and_shown_as_such(person, scripted_product)


def stored_answer_is_switched_on_given_and_shown_as_such(
    person: Person, product: ScriptedProduct
) -> None:
    """Owners decide which answers are reused, and whoever wonders sees that one was."""
    page = person.page
    product.says("Seven hills.")
    person.go("/settings/privacy")
    page.get_by_label("Stored answers are given to").select_option("exact")
    page.get_by_label("Minutes that an answer is stored").fill("30")
    page.get_by_label("Also where answers are sampled").check()
    section = page.get_by_role("heading", name="Reused answers").locator("xpath=..")
    section.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. It holds within seconds.")).to_be_visible()
    keep_image(page, "reused-answers")
    assert person.call("GET", "/api/data-policy")["answer_cache_s"] == 30 * 60

    for _ in range(2):
        person.go("/")
        person.say("How many hills has Rome?")
        expect(person.answer).to_contain_text("Seven hills.")
        person.wait_for_the_end()
    person.answer.get_by_role("button", name="More about this answer").click()
    page.get_by_role("menuitem", name="What was sent").click()
    sent = page.get_by_role("dialog", name="What was sent")
    expect(sent).to_contain_text("a stored answer to an identical prompt")


def thought_is_folded_above_its_answer(page: Page) -> None:
    """As it came, and from what is stored."""
    summary, thought = page.get_by_text("Thought for"), page.get_by_text(THOUGHT)
    expect(summary).to_be_visible()
    expect(thought).to_be_hidden()
    summary.focus()
    page.keyboard.press("Enter")
    expect(thought).to_be_visible()
