"""Conversations out as files, and those of other products in."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from backend.accounts.principal import Principal
from backend.api.kept_text_check import instructions_refuse
from backend.conversations.exports import conversation_export, conversation_markdown
from backend.conversations.foreign_chats import MAX_MESSAGES, NotAChat, read_chat
from backend.conversations.imports import conversations_import
from backend.conversations.models import Conversation, Message
from backend.conversations.selectors import branch_get
from tests.conversations.message_trees import finished_turns
from tests.factories import MODEL, member

pytestmark = pytest.mark.django_db


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"author": {"role": role}, "content": content, "create_time": 1_700_000_000.5, **more}


def chatgpt(**changes: Any) -> dict[str, Any]:
    """A root without a message, hidden instructions, a question with two answers, a tool's turn."""
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    nodes: dict[str, tuple[str | None, dict[str, Any] | None]] = {
        "root": (None, None),
        "system": ("root", said("system", "Obey.", **hidden)),
        "q": ("system", said("user", "What is <b>salt</b>?")),
        "a1": ("q", said("assistant", "A mineral.", metadata={"model_slug": "gpt-4o"})),
        "a2": ("q", said("assistant", "Let me look.")),
        "tool": ("a2", said("tool", "NaCl")),
        "a3": ("tool", said("assistant", "It is NaCl.")),
    }
    mapping = {
        name: {"id": name, "parent": parent, "message": message}
        for name, (parent, message) in nodes.items()
    }
    return {
        "id": "c1",
        "title": "Salt",
        "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_100.0,
        "mapping": mapping,
        "current_node": "a1",
        **changes,
    }


CLAUDE = {
    "uuid": "u1",
    "name": "Pepper",
    "created_at": "2025-05-01T10:00:00Z",
    "updated_at": "2025-05-01T10:01:00Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "And pepper?", "content": []},
        {
            "uuid": "m2",
            "sender": "assistant",
            "content": [{"type": "text", "text": "A spice."}, {"type": "tool_use", "text": "no"}],
        },
    ],
}


def open_webui(**chat: Any) -> dict[str, Any]:
    """As its "Export Chats" writes one: a question with two answers, the second with thoughts."""
    thoughts = '<details type="reasoning" done="true"><summary>Hm</summary>\n> Hm\n</details>\n'
    said = {
        "q": {
            "id": "q",
            "parentId": None,
            "childrenIds": ["a1", "a2"],
            "role": "user",
            "content": "And sugar?",
            "timestamp": 1_700_000_000,
        },
        "a1": {
            "id": "a1",
            "parentId": "q",
            "childrenIds": [],
            "role": "assistant",
            "content": "Sweet.",
            "model": "llama3:latest",
            "timestamp": 1_700_000_005,
        },
        "a2": {
            "id": "a2",
            "parentId": "q",
            "childrenIds": [],
            "role": "assistant",
            "content": f"{thoughts}A carbohydrate.",
            "model": "qwen3",
            "timestamp": 1_700_000_009,
        },
    }
    whole = {"title": "Sugar", "models": ["llama3:latest"], "params": {"system": "Be brief."}}
    return {
        "id": "w1",
        "user_id": "someone",
        "title": "Sugar",
        "created_at": 1_700_000_000,
        "updated_at": 1_700_000_100,
        "archived": False,
        "pinned": True,
        "meta": {"tags": ["food"]},
        "chat": {**whole, "history": {"messages": said, "currentId": "a1"}, **chat},
    }


def take(user: Principal, *chats: Any) -> tuple[int, int, int]:
    result = conversations_import(
        principal=user, chats=chats, model=MODEL, refuse=instructions_refuse
    )
    return result.imported, result.present, len(result.refused)


def shown(user: Principal, conversation: Conversation) -> list[tuple[str, str]]:
    branch = branch_get(principal=user, conversation_id=conversation.id)
    return [(one.message.role, one.message.text) for one in branch.messages]


def test_tree_of_chatgpt_keeps_branches_the_shown_one_and_its_dates() -> None:
    user = member()
    assert take(user, chatgpt()) == (1, 0, 0)
    conversation = Conversation.objects.get()
    assert conversation.title == "Salt"
    assert conversation.updated_at == datetime.fromtimestamp(1_700_000_100, UTC)
    assert shown(user, conversation) == [
        ("user", "What is <b>salt</b>?"),
        ("assistant", "A mineral."),
    ]
    answers = Message.objects.filter(role="assistant").order_by("text")
    assert [one.text for one in answers] == ["A mineral.", "Let me look.\n\nIt is NaCl."]
    assert not Message.objects.filter(text__contains="Obey").exists()


def test_chat_of_claude_is_read_from_its_blocks() -> None:
    user = member()
    assert take(user, CLAUDE) == (1, 0, 0)
    assert shown(user, Conversation.objects.get()) == [
        ("user", "And pepper?"),
        ("assistant", "A spice."),
    ]


def test_tree_of_open_webui_keeps_branches_and_leaves_thoughts_out() -> None:
    user = member()
    assert take(user, open_webui()) == (1, 0, 0)
    assert take(user, open_webui()) == (0, 1, 0)
    conversation = Conversation.objects.get()
    assert (conversation.title, conversation.instructions) == ("Sugar", "Be brief.")
    assert conversation.pinned_at is not None
    assert conversation.updated_at == datetime.fromtimestamp(1_700_000_100, UTC)
    assert shown(user, conversation) == [("user", "And sugar?"), ("assistant", "Sweet.")]
    answers = Message.objects.filter(role="assistant").order_by("text")
    assert [(one.text, one.model) for one in answers] == [
        ("A carbohydrate.", "qwen3"),
        ("Sweet.", "llama3:latest"),
    ]


@pytest.mark.parametrize("history", [None, [], {"messages": {}}, {"messages": [1]}])
def test_older_list_of_open_webui_is_read(history: object) -> None:
    user = member()
    said = [{"role": "user", "content": "Hi"}, 7, {"role": "assistant", "content": "Hello."}]
    assert take(user, open_webui(history=history, messages=said)) == (1, 0, 0)
    assert shown(user, Conversation.objects.get()) == [("user", "Hi"), ("assistant", "Hello.")]


@pytest.mark.parametrize(
    "chat", [{"history": {"messages": {"q": 3}}}, {"history": 4, "messages": "no"}]
)
def test_chat_of_open_webui_without_messages_is_refused(chat: dict[str, Any]) -> None:
    assert take(member(), open_webui(**chat)) == (0, 0, 1)


def test_our_own_export_comes_back_with_all_branches() -> None:
    user, other = member(), member()
    conversation = finished_turns(user, 3, title="Ours")
    exported = json.loads(
        json.dumps(conversation_export(principal=user, conversation_id=conversation.id))
    )
    assert take(other, exported) == (1, 0, 0)
    copy = Conversation.objects.get(user_id=other.user_id)
    assert shown(other, copy) == shown(user, conversation)
    assert copy.id != conversation.id


def test_own_export_makes_no_duplicate_of_what_was_exported() -> None:
    user, other = member(), member()
    conversation = finished_turns(user, 1, title="Ours")
    exported = conversation_export(principal=user, conversation_id=conversation.id)
    assert take(user, exported) == (0, 1, 0)
    assert take(other, exported) == (1, 0, 0)
    assert take(other, exported) == (0, 1, 0)
    copy = Conversation.objects.get(user_id=other.user_id)
    again = conversation_export(principal=other, conversation_id=copy.id)
    assert take(other, again) == (0, 1, 0)
    assert take(user, {**exported, "id": "not of ours"}) == (1, 0, 0)


def test_second_import_makes_no_duplicate_not_even_of_what_is_in_the_trash() -> None:
    user = member()
    assert take(user, chatgpt(), CLAUDE) == (2, 0, 0)
    assert take(user, chatgpt(title="Renamed"), CLAUDE) == (0, 2, 0)
    Conversation.objects.update(deleted_at=datetime.now(UTC))
    assert take(user, chatgpt()) == (0, 1, 0)
    assert take(member(), chatgpt()) == (1, 0, 0)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        7,
        {},
        {"id": "x", "mapping": {}},
        {"id": "x", "mapping": {"a": None, "b": 3, "c": {"message": {"author": "me"}}}},
        {"mapping": chatgpt()["mapping"]},
        {"id": "x", "messages": [{"id": "1", "parent_id": "1", "role": "user", "text": "circle"}]},
        {"id": "x", "messages": [{"id": "1", "role": "assistant", "text": "nobody asked"}]},
        {"id": "x", "messages": [{"id": "1", "role": "user", "text": "a" * 1_000_001}]},
        {"id": "x", "messages": [{"id": str(n), "role": "user"} for n in range(MAX_MESSAGES + 1)]},
    ],
)
def test_bad_chat_is_refused_with_a_reason_and_harms_no_other(raw: Any) -> None:
    with pytest.raises(NotAChat, match=r"\w"):
        read_chat(raw)
    assert take(member(), raw, CLAUDE) == (1, 0, 1)


def test_chain_of_five_thousand_messages_is_read() -> None:
    messages = [
        {
            "id": str(n),
            "parent_id": str(n - 1) if n else None,
            "role": "assistant" if n % 2 else "user",
            "text": "x",
        }
        for n in range(MAX_MESSAGES)
    ]
    assert len(read_chat({"id": "long", "messages": messages}).messages) == MAX_MESSAGES


def test_unended_thoughts_of_open_webui_are_kept_as_text() -> None:
    text = '<details type="reasoning"' * 40_000
    raw = {"id": "x", "chat": {"messages": [{"id": "1", "role": "user", "content": text}]}}
    assert read_chat(raw).messages[0].text == text


def test_dates_of_the_future_and_null_characters_are_left_out() -> None:
    raw = {
        "id": "x",
        "updated_at": "2999-01-01T00:00:00Z",
        "messages": [{"id": "1", "role": "user", "text": "a\x00b", "created_at": 1e30}],
    }
    chat = read_chat(raw)
    assert chat.updated_at is None
    assert chat.messages[0].text == "ab"


def test_markdown_shows_the_branch_with_a_heading_for_each_message() -> None:
    user = member()
    conversation = finished_turns(user, 1, title="Ours")
    text = conversation_markdown(principal=user, conversation_id=conversation.id)
    assert text.startswith("# Ours\n")
    assert "\n## You\n\nprompt 0\n" in text
    assert "answer 0" in text
