"""Asking and answering with the real model. What else is done with an answer: test_chat.py."""

import re

from playwright.sync_api import expect

from tests.e2e.users import Person, expect_letters, letters


def test_first_answer_is_streamed_stored_and_titled(person: Person) -> None:
    person.say("Say hello.")
    expect(person.page).to_have_url(re.compile("/c/[0-9a-f-]{36}$"))
    expect(person.page.get_by_role("article", name="You")).to_contain_text("Say hello.")
    person.wait_for_words(1)
    person.wait_for_the_end()

    prompt, answer = person.stored()
    assert prompt["content"] == "Say hello."
    assert answer["status"] == "completed"
    expect_letters(person.answer, letters(answer["content"]))

    row = person.conversations.first
    expect(row).not_to_have_text("New chat")
    expect(row).not_to_be_empty()
