"""A chat that outgrows its model's window: how full it is, summarised, undone, asked for again."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.images import keep_image
from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

SAID = "Person tells of a calm sea."
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def say(person: Person, text: str) -> None:
    person.composer.fill(text)
    person.page.get_by_role("button", name="Send", exact=True).click()
    # Until then, the last answer on the page is that of the turn before.
    expect(person.page.get_by_role("article", name="You").last).to_contain_text(text[:7])
    person.wait_for_the_end()


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


# Only rows around those in sight are in the list.
_SCROLL_TO_FOLD = """async (main) => {
  const scrolls = (one) =>
    one.scrollHeight > one.clientHeight + 50 && /auto|scroll/.test(getComputedStyle(one).overflowY);
  const list = [...main.querySelectorAll('*')].find(scrolls);
  for (let top = 0; top <= list.scrollHeight; top += 300) {
    list.scrollTop = top;
    await new Promise((done) => setTimeout(done, 50));
    if (main.querySelector('section[aria-label="Summary"]')) return;
  }
}"""


def test_long_chat_says_how_full_it_is_and_its_beginning_is_summarised_and_that_undone(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Calm, indeed.")
    person: Person = sign_up(**PHONE)
    page = person.page
    calm = "The sea is calm. " * 820  # more than half of the model's window
    chat = insert_branch(scripted_product, person, "The sea", [f"First. {calm}", "Calm, indeed."])
    person.open(f"/c/{chat}")
    page.get_by_role("button", name=re.compile(r"^Context: \d\d % full$")).click()
    gauge = page.get_by_role("dialog", name="Context")
    expect(gauge.get_by_text("tokens")).to_have_text(re.compile(r"^About 4,\d{3} of \d,\d{3} "))
    expect(gauge).to_contain_text("All of this chat is read.")
    page.keyboard.press("Escape")

    say(person, f"Second. {calm}")
    left_out = page.get_by_role("button", name="Context: the beginning is left out")
    expect(left_out).to_be_visible()
    keep_image(page, "full")
    left_out.focus()
    page.keyboard.press("Enter")
    expect(gauge).to_contain_text("Left out: everything before")
    expect(gauge.get_by_text("Second. The sea is calm.")).to_be_visible()
    assert_accessible(page, "how full a chat is")
    keep_image(page, "gauge")
    read = scripted_product.prompts[-1]
    assert [one["content"][:7] for one in read if one["role"] == "user"] == ["Second."]

    summarised(scripted_product, chat)
    page.reload()
    expect(person.answer).to_be_visible()
    page.get_by_role("main").evaluate(_SCROLL_TO_FOLD)
    fold = page.get_by_role("region", name="Summary")
    expect(fold).to_contain_text("The messages before are summarised for the model")
    fold.get_by_text("The messages before").click()
    expect(fold.get_by_text(SAID)).to_be_visible()
    assert_accessible(page, "a summary in the chat")
    keep_image(page, "summary")
    page.get_by_role("button", name="Context: the beginning is summarised").click()
    expect(gauge).to_contain_text("The beginning of this chat is summarised for the model.")
    page.keyboard.press("Escape")

    say(person, "And the wind?")
    read = scripted_product.prompts[-1]
    assert SAID in read[0]["content"] and "First." not in read[0]["content"]
    page.get_by_role("main").evaluate(_SCROLL_TO_FOLD)
    fold.get_by_text("The messages before").click()
    fold.get_by_role("button", name="Undo").click()
    expect(fold).to_be_hidden()
    left_out.click()
    assert_accessible(page, "a chat whose summary was undone")
    gauge.get_by_role("button", name="Summarise now").click()
    expect(page.get_by_text("The beginning is being summarised.")).to_be_visible()
    expect(gauge).to_be_hidden()


def summarised(product: ScriptedProduct, chat: str) -> None:
    """What the worker makes: tests/conversations/test_summarising.py."""
    product.rows(
        "INSERT INTO conversations_conversationsummary"
        " (id, conversation_id, through_id, text, created_at)"
        " SELECT gen_random_uuid(), conversation_id, parent_id, %s, now()"
        " FROM conversations_message WHERE conversation_id = %s AND text LIKE %s RETURNING id",
        [SAID, chat, "Second.%"],
    )
