"""A conversation longer than the model's window goes on, and forgets its beginning."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.conversations.history import kept_from
from backend.conversations.types import ChatMessage, ImagePart
from tests.conversations.conftest import ask


def exchange(*texts: str) -> list[ChatMessage]:
    """User and assistant in turns, the last one the user's."""
    roles = ("user", "assistant")
    return [ChatMessage(roles[n % 2], text) for n, text in enumerate(texts)]


def newest_within(history: list[ChatMessage], *, tokens: int) -> list[ChatMessage]:
    return history[kept_from(history, tokens=tokens) :]


def test_history_is_unchanged_when_it_fits():
    history = exchange("one", "two", "three")
    assert newest_within(history, tokens=1000) == history


def test_oldest_messages_are_dropped_first_and_history_begins_with_a_prompt():
    history = exchange(*("x" * 300 for _ in range(9)))  # about 108 tokens each

    kept = newest_within(history, tokens=500)

    assert kept == history[-3:]


def test_prompt_longer_than_the_window_is_kept_to_be_refused():
    history = exchange("old", "answer", "x" * 100_000)
    assert newest_within(history, tokens=10) == history[-1:]


@pytest.mark.parametrize("text", ["日本語" * 100, "🙂" * 100])
def test_tokens_of_other_scripts_are_not_underestimated(text):
    assert len(newest_within(exchange(text, "answer", "next"), tokens=80)) == 1


def test_images_count_towards_the_window():
    image = ChatMessage("user", [ImagePart("data:,")])
    history = [image, ChatMessage("assistant", "a cat"), ChatMessage("user", "sure?")]
    assert newest_within(history, tokens=500) == history[-1:]
    assert newest_within(history, tokens=2000) == history


@given(st.lists(st.text(max_size=400), min_size=1, max_size=15), st.integers(0, 2000))
@settings(deadline=None, max_examples=30)
def test_trimmed_history_is_a_suffix_that_begins_and_ends_with_a_prompt(texts, tokens):
    history = exchange(*texts, *(["last"] if len(texts) % 2 == 0 else []))

    kept = newest_within(history, tokens=tokens)

    assert history[-len(kept) :] == kept
    assert kept[0].role == kept[-1].role == "user"
    more = newest_within(history, tokens=tokens + 100)
    assert len(more) >= len(kept)


def test_chat_longer_than_the_window_is_answered(upstream, person):
    upstream.behaviour.script = None
    conversation = person.new_conversation(title="Long")
    prompts = [f"{number} " + "x" * 6000 for number in range(4)]

    for prompt in prompts:
        ask(person, conversation, prompt)

    read = [message["content"] for message in upstream.served[-1].body["messages"]]
    assert read[-1] == prompts[-1]
    assert prompts[0] not in read
    shown = person.browser.get(f"/api/conversations/{conversation}").json()["messages"]
    assert [m["content"] for m in shown if m["role"] == "user"] == prompts


def test_how_full_a_chat_is_follows_the_rule_of_its_prompts(upstream, person):
    upstream.behaviour.script = ["So", " be", " it."]
    conversation = person.new_conversation(title="Filling")
    path = f"/api/conversations/{conversation}/context"
    begun = person.browser.get(path).json()
    assert begun["used"] == 0 < begun["limit"]

    used = []
    for number in range(4):
        ask(person, conversation, f"Prompt {number}, " + "x" * 6000)
        used.append(person.browser.get(path).json())
    ask(person, conversation, "And now?")

    assert used[0]["begins_with"] is None is used[1]["begins_with"]
    assert 2000 < used[0]["used"] < used[1]["used"]
    assert all(one["used"] <= one["limit"] == begun["limit"] for one in used)
    sent = upstream.served[-1].body["messages"]
    first = next(message["content"] for message in sent if message["role"] == "user")
    assert not first.startswith("Prompt 0")
    assert used[-1]["begins_with"] == f"{first[:79]}…"
