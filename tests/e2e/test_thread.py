"""The thread of a stored chat: what is done with its answers, and what comes over it."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.images import keep_image
from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ANSWER = "\n\n".join(f"Paragraph {number}. " + "The sea is calm. " * 20 for number in range(8))

# Where the button is while the list hears of its scroll: what a click there would hit. Nothing of
# one that is gone: a row that is measured anew is made anew.
_HIT_WHILE_SCROLLING = """async (button) => {
  const list = button.closest('section');
  if (!list) return null;
  const heard = new Promise((done) => list.addEventListener('scroll', done, { once: true }));
  button.scrollIntoView({ block: 'center' });
  await heard;
  await new Promise((done) => requestAnimationFrame(done));
  const { left, top, width, height } = button.getBoundingClientRect();
  return button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


LONG = "tests/e2e/test_thread.py::test_button_in_a_thread_takes_a_click_while_the_thread_scrolls[4]"
ON_A_PHONE = (
    "tests/e2e/test_thread.py"
    "::test_answer_is_copied_and_rated_and_the_notice_covers_neither_header_nor_composer[phone]"
)


@pytest.mark.parametrize("turns", [pytest.param(1, marks=pytest.mark.nightly(beside=LONG)), 4])
def test_button_in_a_thread_takes_a_click_while_the_thread_scrolls(
    sign_up: SignUp, scripted_product: ScriptedProduct, turns: int
) -> None:
    person: Person = sign_up()
    texts = [text for turn in range(turns) for text in (f"Question {turn}", ANSWER)]
    person.open(f"/c/{insert_branch(scripted_product, person, 'The sea', texts)}")
    expect(person.answer).to_be_visible()
    question = person.page.get_by_role("article", name="You").last
    assert is_hit_while_scrolling(question.get_by_role("button").first)
    assert is_hit_while_scrolling(person.answer.get_by_role("button", name="Copy answer"))


def is_hit_while_scrolling(button: Locator) -> bool:
    while (hit := button.evaluate(_HIT_WHILE_SCROLLING)) is None:
        button.page.wait_for_timeout(100)
    return bool(hit)


@pytest.mark.parametrize(
    "device", [pytest.param("desktop", marks=pytest.mark.nightly(beside=ON_A_PHONE)), "phone"]
)
def test_answer_is_copied_and_rated_and_the_notice_covers_neither_header_nor_composer(
    sign_up: SignUp, scripted_product: ScriptedProduct, device: str
) -> None:
    person: Person = sign_up(**(PHONE if device == "phone" else {}))
    page = person.page
    said = f"{ANSWER}\n\nIt is **calm**."
    chat = insert_branch(scripted_product, person, "The sea", ["How is it?", said])
    person.open(f"/c/{chat}")
    person.answer.get_by_role("button", name="Copy answer").click()
    expect(person.answer.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == said

    thumb = person.answer.get_by_role("button", name="Bad answer")
    thumb.click()
    page.get_by_role("textbox", name="Comment").fill("It is rough.")
    page.get_by_role("dialog").get_by_role("button", name="Send").click()
    notice = page.get_by_role("dialog").filter(has_text="Thank you for your feedback.")
    expect(notice).to_be_visible()
    keep_image(page, f"notice-{device}")
    box = edges(notice)
    assert edges(page.get_by_role("main").locator("header"))["bottom"] <= box["top"]
    assert box["bottom"] <= edges(page.locator("form", has=person.composer))["top"]
    page.reload()
    expect(thumb).to_have_attribute("aria-pressed", "true")
    stored = person.stored()[-1]["feedback"]
    assert stored == {"rating": -1, "comment": "It is rough."}


def edges(locator: Locator) -> dict[str, Any]:
    found: dict[str, Any] = locator.evaluate(
        "(element) => { const { top, bottom } = element.getBoundingClientRect();"
        " return { top, bottom }; }"
    )
    return found
