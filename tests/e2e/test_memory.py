"""Memory on the page: asked for, proposed, used, named, changed, forgotten, switched off."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def say(person: Person, text: str) -> None:
    person.composer.fill(text)
    person.page.get_by_role("button", name="Send", exact=True).click()
    person.wait_for_the_end()


def test_memory_is_asked_for_used_changed_and_forgotten(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("I see.")
    person: Person = sign_up(**PHONE)
    page = person.page
    person.open("/")
    say(person, "Remember that I keep bees on my roof.")
    remembered = page.get_by_role("region", name="Remembered")
    expect(remembered).to_contain_text("I keep bees on my roof")
    assert_accessible(page, "remembered")
    keep_image(page, "remembered")
    remembered.get_by_role("button", name="Undo").click()
    expect(remembered).to_be_hidden()
    assert person.call("GET", "/api/memories")["data"] == []

    # What the worker writes under a prompt: tests/conversations/test_memory_proposals.py.
    person.go("/")
    say(person, "My daughter plays the cello and my son the oboe.")
    note = {"state": "proposed", "text": "Has a daughter who plays the cello", "memory_id": None}
    scripted_product.rows(
        "UPDATE conversations_message SET memory = %s::jsonb WHERE text LIKE %s"
        " AND conversation_id = %s RETURNING id",
        [json.dumps(note), "My daughter%", page.url.rpartition("/")[2]],
    )
    page.reload()
    proposal = page.get_by_role("region", name="Remember this?")
    expect(proposal).to_contain_text("Has a daughter who plays the cello")
    assert_accessible(page, "remember this?")
    keep_image(page, "proposal")
    proposal.get_by_role("button", name="Edit").click()
    proposal.get_by_role("textbox", name="What to remember").fill("My daughter plays the cello")
    proposal.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Remembered")).to_contain_text("My daughter plays")

    person.go("/")
    say(person, "Which concert shall we hear?")
    page.get_by_text("1 memory used").click()
    expect(page.get_by_role("listitem").filter(has_text="My daughter plays")).to_be_visible()
    keep_image(page, "used")
    person.answer.get_by_role("button", name="More about this answer").click()
    page.get_by_role("menuitem", name="What was sent").click()
    expect(page.get_by_role("dialog", name="What was sent")).to_contain_text("plays the cello")
    page.keyboard.press("Escape")

    page.get_by_role("link", name="Manage memory").click()
    expect(page.get_by_role("heading", name="Memory", exact=True)).to_be_visible()
    page.get_by_role("textbox", name="Remember something").fill("I live in Bremen")
    page.get_by_role("button", name="Add").click()
    rows = page.get_by_role("list", name="Remembered")
    expect(rows.get_by_role("listitem")).to_have_count(2)
    assert_accessible(page, "memory")
    keep_image(page, "memory")
    page.get_by_role("button", name="Edit: My daughter plays the cello").click()
    page.get_by_role("textbox", name="What to remember").fill("My daughter plays the viola")
    page.get_by_role("button", name="Save").click()
    expect(rows).to_contain_text("viola")
    page.get_by_role("button", name="Forget: I live in Bremen").click()
    expect(rows.get_by_role("listitem")).to_have_count(1)
    page.get_by_role("checkbox", name="Use memory", exact=True).click()
    expect(page.get_by_role("textbox", name="Remember something")).to_be_hidden()
    page.get_by_role("button", name="Forget everything").click()
    dialog = page.get_by_role("dialog", name="Forget everything?")
    dialog.get_by_role("button", name="Forget everything").click()
    expect(page.get_by_text("Nothing is remembered of you.")).to_be_visible()
