"""Turns that offer tools, answered by the real engine and the default model."""

import pytest

from tests.api.event_stream import text_of
from tests.api.test_chat_page import ask, messages_of
from tests.api.test_python_tool import switch_on
from tests.api.users import Person

pytestmark = pytest.mark.model


def test_engine_answers_turn_that_offers_python(new_person):
    person: Person = new_person()
    switch_on(person)
    conversation = person.new_conversation()

    events = ask(person, conversation, page_tools=["python"])

    assert not [event for event in events if event.data != "[DONE]" and "error" in event.json]
    [_, answer] = messages_of(person, conversation)
    assert answer["status"] == "completed"
    assert answer["content"] == text_of(events)
