"""What is done with an answer: again, otherwise, after a reload, without a connection, with a file.

One of the real model: test_first_answer.py."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.test_while_writing import STORY
from tests.e2e.users import Person, SignUp, Visitor, expect_letters, letters, shown_letters
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture(autouse=True)
def short_answers(scripted_product: ScriptedProduct) -> None:
    """A page that shows how an answer comes costs as long as it comes."""
    scripted_product.says("There was once a lighthouse.")


def test_prompt_is_edited_and_an_answer_has_versions_and_is_complete_after_a_broken_connection(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    texts = ["Tell me about cats.", "They purr.", "And about lions.", "They roar."]
    person.open(f"/c/{insert_branch(scripted_product, person, 'Cats', texts)}")
    prompts = person.page.get_by_role("article", name="You")
    prompts.first.hover()
    prompts.first.get_by_role("button", name="Edit message").click()
    field = person.page.get_by_role("textbox", name="Edit your message")
    expect(field).to_have_value("Tell me about cats.")
    field.fill("Tell me about dogs.")
    field.press("Enter")
    expect(prompts).to_have_count(1)
    expect(prompts.first).to_contain_text("Tell me about dogs.")
    person.wait_for_the_end()
    first = letters("There was once a lighthouse.")
    expect_letters(person.answer, first)

    scripted_product.says("It stood by the sea.")
    person.answer.get_by_role("button", name="Regenerate").click()
    expect(person.answer.get_by_text("2/2")).to_be_visible()
    second = letters("It stood by the sea.")
    expect_letters(person.answer, second)
    person.wait_for_the_end()
    person.answer.get_by_role("button", name="Previous version").click()
    expect(person.answer.get_by_text("1/2")).to_be_visible()
    expect_letters(person.answer, first)
    person.page.reload()
    expect(person.answer.get_by_text("1/2")).to_be_visible()
    person.answer.get_by_role("button", name="Next version").click()
    expect(person.answer.get_by_text("2/2")).to_be_visible()
    expect_letters(person.answer, second)

    prompts.first.hover()
    prompts.first.get_by_role("button", name="Previous version").click()
    expect(prompts).to_have_count(2)
    expect(prompts.first).to_contain_text("Tell me about cats.")
    expect(prompts.last).to_contain_text("And about lions.")

    person.go("/")
    answer_is_complete_after_a_reload_and_a_broken_connection(person, scripted_product)


def answer_is_complete_after_a_reload_and_a_broken_connection(
    person: Person, product: ScriptedProduct
) -> None:
    product.says(STORY, rate=10.0)
    person.visitor.expect_offline()
    person.say("Write a long story about a journey to the moon.")
    person.wait_for_words(3)
    snapshots = [shown_letters(person.answer)]
    person.page.reload()
    for words in (6, 9):
        person.wait_for_words(words)
        snapshots.append(shown_letters(person.answer))
    person.context.set_offline(True)
    expect(person.page.get_by_text("You are offline")).to_be_visible()
    snapshots.append(shown_letters(person.answer))
    person.context.set_offline(False)
    expect(person.page.get_by_text("You are offline")).to_be_hidden()
    person.wait_for_words(snapshots[-1].count("Wave") * 3 + 6)
    snapshots.append(shown_letters(person.answer))
    person.stop()

    final = letters(person.stored()[-1]["content"])
    for snapshot in snapshots:
        assert final.startswith(snapshot)
    assert len(snapshots[0]) < len(snapshots[2]) < len(snapshots[-1])
    expect_letters(person.answer, final)


@pytest.mark.nightly(
    beside="tests/e2e/test_outbox.py"
    "::test_messages_that_were_sent_offline_are_stored_as_they_were_left_once_and_in_order"
)
def test_unsent_message_is_sent_when_the_server_is_reached_again(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    chat = insert_branch(scripted_product, person, "Hello", ["Hello.", "Good day."])
    person.open(f"/c/{chat}")
    expect(person.answer).to_contain_text("Good day.")
    scripted_product.says(STORY, rate=10.0)
    person.visitor.expect_offline()
    # The browser still believes in its network: only requests fail.
    person.context.route("**/messages", lambda route: route.abort("internetdisconnected"))
    person.say("Are you there?")
    expect(person.page.get_by_text("Waiting for the connection")).to_be_visible()
    expect(person.page.get_by_role("article", name="You").last).to_contain_text("Are you there?")

    person.context.unroute("**/messages")
    expect(person.stop_button).to_be_visible()  # until then the last answer is the one before
    person.wait_for_words(1)
    person.stop()
    assert [message["content"] for message in person.stored()[2:3]] == ["Are you there?"]
    assert len(person.stored()) == 4
