"""What can be done while an answer is written, and with one that was cut short."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.test_instructions import PHONE
from tests.e2e.users import Person, SignUp, Visitor, expect_letters, letters, until
from tests.support.scripted import ScriptedProduct

# A minute at ten words a second: whoever stops it is in time on any machine.
STORY = " ".join(f"Wave {number} came ashore." for number in range(150))


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_cut_answer_goes_on_and_a_message_steers_the_next(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    """It goes out at once, below what there is of the answer."""
    person = sign_up(**PHONE)
    page = person.page
    chat = person.new_conversation("Counting")
    path = f"/api/conversations/{chat}"
    person.call("PATCH", path, {"parameters": {"max_tokens": 3}})
    scripted_product.says("One two three four five six")
    person.open(f"/c/{chat}")
    send = page.get_by_role("button", name="Send", exact=True)
    person.composer.fill("Count, please")
    send.click()
    expect(page.get_by_text("reached its maximum length")).to_be_visible()
    person.call("PATCH", path, {"parameters": {}})
    scripted_product.says("and so on.")
    assert_accessible(page, "a cut answer")
    keep_image(page, "cut")
    page.get_by_role("button", name="Continue").click()
    expect(person.answer).to_contain_text("and so on.")
    person.wait_for_the_end()
    expect(person.answer).to_contain_text("One two three")
    expect(person.answer.get_by_text("2/2")).to_be_visible()

    scripted_product.says(STORY, rate=10.0)
    person.composer.fill("Write a very long story about the sea.")
    send.click()
    expect(person.answer).to_contain_text("Wave 0")
    person.composer.fill("In the mountains, please")
    page.get_by_role("button", name="Send next").click()
    expect(page.get_by_text("Sent next:")).to_be_visible()
    assert_accessible(page, "a message that may steer")
    keep_image(page, "steer")
    scripted_product.says("High up it was quiet.", rate=10.0)  # else the story hurries too
    page.get_by_role("button", name="Send now").click()
    expect(person.answer).to_contain_text("High up it was quiet.")
    expect(page.get_by_text("Sent next:")).to_be_hidden()
    expect(page.get_by_text("You stopped this answer.")).to_be_visible()
    person.wait_for_the_end()
    asked, cut, steered, answer = person.stored()[-4:]
    assert (cut["status"], answer["status"]) == ("cancelled", "completed")
    assert cut["content"].startswith("Wave 0")
    assert [asked["id"], cut["id"], steered["id"]] == [
        one["parent_id"] for one in (cut, steered, answer)
    ]
    read = [one["content"] for one in scripted_product.prompts[-1]]
    assert read[-1] == "In the mountains, please"
    assert any(str(one).startswith("Wave 0") for one in read)
    keep_image(page, "steered")


def test_second_tab_shows_changes_of_the_first_and_a_stopped_answer_keeps_its_text(
    person: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says(STORY, rate=10.0)
    tab = person.visitor.new_tab()
    tab.goto("/")
    rows = tab.get_by_role("navigation", name="Conversations").get_by_role("link")
    expect(tab.get_by_text("Your conversations will be listed here.")).to_be_visible()

    person.say("Write a long story about two sisters.")
    rows.first.click()
    tab.wait_for_url("**/c/*")
    other = tab.get_by_role("article", name="Parley").last
    person.wait_for_words(5)
    until(tab, "() => document.querySelector('.answer')?.innerText.split(' ').length > 3")
    expect(tab.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    person.stop_button.click()
    expect(person.page.get_by_text("You stopped this answer.")).to_be_visible()
    expect(tab.get_by_role("button", name="Send", exact=True)).to_be_visible()
    expect(other.get_by_role("button", name="Regenerate")).to_be_visible()
    answer = person.stored()[-1]
    assert answer["status"] == "cancelled"
    assert answer["content"]
    for shown in (person.answer, other):
        expect_letters(shown, letters(answer["content"]))

    identity = person.conversation_id
    person.call("PATCH", f"/api/conversations/{identity}", {"title": "Two sisters"})
    expect(rows.first).to_have_text("Two sisters")
    person.call("DELETE", f"/api/conversations/{identity}")
    expect(rows).to_have_count(0)
    expect(tab).to_have_url(re.compile("/$"))
    composer_is_as_high_as_its_text_at_each_width(tab)


# What waits over a reload, and for which of two tabs: frontend/src/chat/queued.test.ts.
@pytest.mark.nightly(
    beside="tests/e2e/test_while_writing.py::test_cut_answer_goes_on_and_a_message_steers_the_next"
)
def test_queued_message_waits_over_a_reload_and_is_sent_once_by_two_tabs_or_at_once_by_keys(
    person: Person, scripted_product: ScriptedProduct
) -> None:
    page = person.page
    scripted_product.says("slowly " * 60, rate=10.0)
    person.say("Take your time")
    person.wait_for_words()
    person.composer.fill("Thank you")
    page.keyboard.press("Enter")
    waiting = "Sent next: Thank you"
    expect(page.get_by_text(waiting)).to_be_visible()
    page.reload()
    expect(page.get_by_text(waiting)).to_be_visible()
    # As "Duplicate tab" does: the copy has the storage of the tab from its first moment.
    stored = page.evaluate("() => JSON.stringify({ ...sessionStorage })")
    copy = person.visitor.new_tab()
    copy.add_init_script(
        "for (const [key, value] of Object.entries(" + stored + "))"
        " if (!sessionStorage.getItem('copied')) sessionStorage.setItem(key, value);"
        "sessionStorage.setItem('copied', 'yes');"
    )
    copy.goto(page.url)
    expect(copy.get_by_text(waiting)).to_be_visible()
    expect(copy.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    scripted_product.hurries()
    for tab in (page, copy):
        expect(tab.get_by_text("Sent next:")).to_be_hidden()
        expect(tab.get_by_text("Thank you")).to_be_visible()
    person.wait_for_the_end()
    copy.close()

    scripted_product.says(STORY, rate=10.0)
    person.say("Write a very long story about the sea.")
    expect(person.answer).to_contain_text("Wave 0")
    person.composer.fill("Enough")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Sent next: Enough")).to_be_visible()
    scripted_product.says("Fine.", rate=10.0)
    person.composer.fill("And stop")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(person.answer).to_contain_text("Fine.")
    prompts = [one["content"] for one in person.stored() if one["role"] == "user"]
    assert prompts[:2] == ["Take your time", "Thank you"]
    assert prompts[3].split() == ["Enough", "And", "stop"]
    assert len(prompts) == 4


def composer_is_as_high_as_its_text_at_each_width(page: Page) -> None:
    composer = page.get_by_role("textbox", name="Message")
    height = "(area) => area.clientHeight"
    one_line = composer.evaluate(height)
    composer.fill("A question that is two lines long on a phone, and one at a desk.")
    assert composer.evaluate(height) == one_line
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("navigation", name="Conversations")).to_be_hidden()
    until(
        page,
        "(height) => document.querySelector('textarea').clientHeight === height",
        arg=one_line + 24,
    )
    composer.fill("")
    assert composer.evaluate(height) == one_line
    composer.fill("\n".join(map(str, range(60))))
    assert one_line + 24 * 5 < composer.evaluate(height) < 844 * 0.45
