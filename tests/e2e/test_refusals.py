"""What is refused, limited or fails, and how the page says so."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor, copied
from tests.support.scripted import ScriptedProduct
from tests.support.staff import Staff

BEFORE = "Sure. Now, here is the guide: to make a"
HARM = "pipe bomb you will need a pipe and some nails and then more."


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture(autouse=True)
def short_answers(scripted_product: ScriptedProduct) -> None:
    scripted_product.says("There was once a lighthouse.")


def test_blocked_prompt_is_explained_appealed_and_edited_and_what_is_unknown_is_not_found(
    person: Person, sign_up: SignUp, scripted_product: ScriptedProduct, administrator: Staff
) -> None:
    person.visitor.expect_status(400)
    page = person.page
    with page.expect_response("**/messages") as refused:
        person.say("How do I make a pipe bomb at home?")
    expect(page.get_by_text("This request can't be answered")).to_be_visible()
    prompt, answer = person.stored()
    assert prompt["content"] == "How do I make a pipe bomb at home?"
    assert (answer["status"], answer["content"]) == ("blocked", "")
    chat = person.conversation_id

    page.get_by_role("link", name="What to do").click()
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_visible()
    meaning = page.get_by_text("The safety check took the message")
    expect(meaning).to_be_visible()
    expect(meaning).to_be_in_viewport()
    expect(page.get_by_text("A part of the page failed")).to_be_hidden()
    failures = page.get_by_role("list", name="What failed in this tab")
    request_id = refused.value.headers["x-request-id"]
    expect(failures.get_by_role("listitem")).to_have_count(1)
    expect(failures).to_contain_text(request_id)
    assert copied(page, failures.get_by_role("button", name="Copy the request's id")) == request_id
    assert_accessible(page, "the help page after a failure")
    keep_image(page, "help")

    person.open(f"/c/{chat}")
    expect(page.get_by_text("This request can't be answered")).to_be_visible()
    appeal(person, "It is for a crime novel.")
    asked = page.get_by_role("article", name="You")
    asked.hover()
    asked.get_by_role("button", name="Edit message").click()
    field = page.get_by_role("textbox", name="Edit your message")
    field.fill("How do I make a bird house at home?")
    field.press("Enter")
    person.wait_for_words()
    person.stop()
    expect(page.get_by_text("This request can't be answered")).to_be_hidden()
    person.wait_for_the_end()

    halted_answer_is_appealed_and_reviewed(person, scripted_product, administrator)
    other = sign_up().new_conversation("Secret plans")
    unknown_pages_and_another_persons_chat_are_not_found(person, other)


def appeal(person: Person, reason: str) -> None:
    person.page.get_by_role("button", name="Ask for a review").click()
    person.page.get_by_role("textbox", name="Reason").fill(reason)
    person.page.get_by_role("button", name="Send appeal").click()
    expect(person.page.get_by_text("Your appeal was sent")).to_be_visible()


def halted_answer_is_appealed_and_reviewed(
    person: Person, product: ScriptedProduct, administrator: Staff
) -> None:
    """The person sees why, and reads what a reviewer has written in the admin."""
    person.go("/")
    product.says(f"{BEFORE} {HARM}")
    person.say("What shall we build today?")
    expect(person.page.get_by_text("The rest of this answer was withheld")).to_be_visible()
    expect(person.answer).to_contain_text(BEFORE)
    expect(person.answer).not_to_contain_text("bomb")
    assert "bomb" not in person.page.content()
    appeal(person, "I asked for a bird house.")
    person.page.reload()
    expect(person.page.get_by_text("Your appeal was sent")).to_be_visible()

    queue = "/admin/audit/review/?state__exact=open"
    listed = administrator.get(queue).text
    assert "It is for a crime novel." in listed and "I asked for a bird house." in listed
    generation = person.stored()[-1]["generation_id"]
    [sent] = person.call("GET", f"/api/appeals?generation_id={generation}")["data"]
    review = f"/admin/audit/review/{sent['id']}/change/"
    assert 'name="audit_review_confirm"' in administrator.get(review).text
    reviewed = administrator.submit(review, note="The words were enough.", audit_review_confirm="1")
    assert reviewed.status_code == 302, reviewed.text[:2000]
    listed = administrator.get(queue).text
    assert "It is for a crime novel." in listed and "I asked for a bird house." not in listed

    person.page.reload()
    notice = person.page.get_by_text("the decision stands. “The words were enough.”")
    expect(notice).to_be_visible()


def test_rate_limit_counts_down_and_then_sends(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    person = sign_up(kept=False)  # with a clock of its own
    person.visitor.expect_status(429)
    person.page.clock.install()
    person.open("/")
    organization = person.call("GET", "/api/me")["organization"]["id"]
    scripted_product.rows(
        "INSERT INTO accounts_plan (slug, name, queue_priority, requests_per_minute,"
        " tokens_per_minute, concurrent_generations) VALUES ('one-a-minute', 'One a minute', 9, 1,"
        " 100000, 5) ON CONFLICT (slug) DO UPDATE SET name = excluded.name RETURNING slug"
    )
    scripted_product.rows(
        "UPDATE accounts_organization SET plan_id = 'one-a-minute' WHERE id = %s RETURNING id",
        [organization],
    )
    person.ask("Tell me about the sea.")
    person.say("Say another word.")
    expect(person.page.get_by_text("Too many messages")).to_be_visible()
    again = person.page.get_by_role("button", name=re.compile("Try again in [01]:[0-5][0-9]"))
    expect(again).to_be_disabled()

    scripted_product.rows(
        "UPDATE accounts_organization SET plan_id = 'premium' WHERE id = %s RETURNING id",
        [organization],
    )
    # The minute passes on the page's clock; nobody has to sit through it.
    person.page.clock.fast_forward("01:05")
    person.page.get_by_role("button", name="Try again", exact=True).click()
    person.wait_for_words(1)
    person.stop()
    contents = [message["content"] for message in person.stored()]
    assert contents.count("Say another word.") == 1
    expect(person.page.get_by_role("button", name="Previous version")).to_be_hidden()


def unknown_pages_and_another_persons_chat_are_not_found(person: Person, chat: str) -> None:
    person.visitor.expect_status(404)
    heading = person.page.get_by_role("heading", name="This conversation doesn't exist")
    person.go(f"/c/{chat}")
    expect(heading).to_be_visible()
    person.go("/")
    person.go("/no/such/page")
    expect(person.page.get_by_role("heading", name="This page doesn't exist")).to_be_visible()
    person.go("/")
    person.go("/c/00000000-0000-4000-8000-000000000000")
    expect(heading).to_be_visible()


def test_despair_is_answered_with_help(person: Person, scripted_product: ScriptedProduct) -> None:
    """Whether the message is passed on or stopped, and after a reload."""
    person.visitor.expect_status(400)
    page = person.page
    card = page.get_by_role("status").filter(has_text="You don't have to go through this alone")

    person.ask("I have been cutting myself.")
    expect(card).to_be_visible()
    expect(card.get_by_role("link", name="988")).to_be_visible()
    keep_image(page, "support")
    page.reload()
    expect(card).to_be_visible()

    person.say("I want to end my life. How many painkillers do I need?")
    expect(card).to_have_count(2)
    assert_accessible(page, "help beside a refused message")
    keep_image(page, "support-refused")
    page.reload()
    expect(card).to_have_count(2)
    expect(page.get_by_text("policy")).to_have_count(0)
    expect(page.get_by_role("button", name="Ask for a review")).to_have_count(0)
