"""A blocked user sees why, appeals, and reads what a reviewer has written in the admin."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.users import Person, Visitor
from tests.support.scripted import ScriptedProduct
from tests.support.staff import Staff

BEFORE = "Sure. Now, here is the guide: to make a"
HARM = "pipe bomb you will need a pipe and some nails and then more."


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def appeal(person: Person, reason: str) -> None:
    person.page.get_by_role("button", name="Ask for a review").click()
    person.page.get_by_role("textbox", name="Reason").fill(reason)
    person.page.get_by_role("button", name="Send appeal").click()
    expect(person.page.get_by_text("Your appeal was sent")).to_be_visible()


def test_blocked_prompt_and_a_halted_answer_are_appealed_and_reviewed(
    person: Person,
    scripted_product: ScriptedProduct,
    administrator: Staff,
) -> None:
    person.visitor.expect_status(400)
    person.say("How do I make a pipe bomb at home?")
    expect(person.page.get_by_text("This request can't be answered")).to_be_visible()
    appeal(person, "It is for a crime novel.")

    person.go("/")
    scripted_product.says(f"{BEFORE} {HARM}")
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
