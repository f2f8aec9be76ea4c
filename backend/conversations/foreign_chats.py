"""What other products write into their exports, read as trees of messages.

Four formats: ChatGPT's `conversations.json` (`mapping`), Claude's (`chat_messages`), Open WebUI's
(`chat`) and our own (`exports.py`). All of it is untrusted: only texts, times and names are taken,
each checked.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

MAX_MESSAGES = 5_000
MAX_TEXT = 1_000_000
_REASONING_BEGIN = '<details type="reasoning"'
_REASONING_END = "</details>"
_SPACE = re.compile(r"\s*")
_ROLES = {"user": "user", "human": "user", "assistant": "assistant"}


class NotAChat(ValueError):
    """The text says what is wrong with it, for whoever tries to import it."""


@dataclass(slots=True)
class ForeignMessage:
    """Attributes:
    parent: the id of the message that it follows; None at the beginning.
    """

    id: str
    parent: str | None
    role: Literal["user", "assistant"]
    text: str
    created_at: datetime | None
    model: str = ""


@dataclass(slots=True)
class ForeignChat:
    """Attributes:
    key: the same for the same chat, whenever it is read.
    own_id: of an export of ours, the chat's id there; it may be of this installation.
    messages: parents before children; user and assistant in turns on each path.
    active: the id of the message that ends the shown branch.
    """

    key: str
    title: str
    created_at: datetime | None
    updated_at: datetime | None
    messages: list[ForeignMessage]
    active: str | None
    archived: bool = False
    pinned: bool = False
    instructions: str = ""
    own_id: UUID | None = None


@dataclass(slots=True)
class _Node:
    """One entry before it is decided whether it becomes a message."""

    id: str
    parent: str | None
    role: str
    text: str
    created_at: datetime | None
    model: str = ""
    children: list[str] = field(default_factory=list)


def read_chat(raw: Any) -> ForeignChat:
    """One conversation of an export.

    Raises:
        NotAChat: it is none that is known, or too large.
    """
    if not isinstance(raw, Mapping):
        raise NotAChat("It is no conversation of an export that is known.")
    if isinstance(raw.get("mapping"), Mapping):
        return _chat(raw, "chatgpt", _of_chatgpt(raw), _text(raw.get("current_node")))
    if isinstance(raw.get("chat_messages"), list):
        nodes = list(_of_claude(raw))
        return _chat(raw, "claude", nodes, nodes[-1].id if nodes else "")
    if isinstance(raw.get("chat"), Mapping):
        chat = raw["chat"]
        nodes = list(_of_open_webui(chat))
        parameters = chat.get("params")
        system = parameters.get("system") if isinstance(parameters, Mapping) else None
        about = {**raw, "title": raw.get("title") or chat.get("title"), "instructions": system}
        active = _history(chat).get("currentId")
        return _chat(about, "open-webui", nodes, _text(active) or (nodes[-1].id if nodes else ""))
    if isinstance(raw.get("messages"), list):
        return _chat(raw, "parley", _of_ours(raw), _text(raw.get("active_message_id")))
    raise NotAChat("It is no conversation of an export that is known.")


def _chat(raw: Mapping[str, Any], source: str, nodes: Any, active: str) -> ForeignChat:
    own_id = _text(raw.get("id") or raw.get("conversation_id") or raw.get("uuid"))
    if not own_id:
        raise NotAChat("It has no id, by which a second import would know it.")
    messages, kept_of = _in_turns({node.id: node for node in nodes})
    if not messages:
        raise NotAChat("There is no text in it.")
    return ForeignChat(
        key=hashlib.sha256(f"{source}:{own_id}".encode()).hexdigest(),
        title=" ".join(_text(raw.get("title") or raw.get("name")).split())[:200],
        created_at=_moment(raw.get("create_time") or raw.get("created_at")),
        updated_at=_moment(raw.get("update_time") or raw.get("updated_at")),
        messages=messages,
        active=kept_of.get(active) or messages[-1].id,
        archived=raw.get("archived") is True or raw.get("is_archived") is True,
        pinned=raw.get("pinned") is True,
        instructions=_text(raw.get("instructions"))[:20_000],
        own_id=_uuid(own_id) if source == "parley" else None,
    )


def _of_chatgpt(raw: Mapping[str, Any]) -> Iterator[_Node]:
    for node_id, entry in raw["mapping"].items():
        if not isinstance(entry, Mapping):
            continue
        said = entry.get("message")
        said = said if isinstance(said, Mapping) else {}
        author, content, about = said.get("author"), said.get("content"), said.get("metadata")
        hidden = isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation")
        shown = isinstance(content, Mapping) and content.get("content_type") in {
            "text",
            "multimodal_text",
        }
        parts = content.get("parts") if shown and isinstance(content, Mapping) else None
        texts = [one for one in parts if isinstance(one, str)] if isinstance(parts, list) else []
        model = about.get("model_slug") if isinstance(about, Mapping) else ""
        yield _Node(
            id=_text(node_id),
            parent=_text(entry.get("parent")) or None,
            role="" if hidden else _text(author.get("role")) if isinstance(author, Mapping) else "",
            text="\n".join(one for one in texts if one),
            created_at=_moment(said.get("create_time")),
            model=_text(model)[:100],
        )


def _of_claude(raw: Mapping[str, Any]) -> Iterator[_Node]:
    before: str | None = None
    for place, said in enumerate(raw["chat_messages"]):
        if not isinstance(said, Mapping):
            continue
        content = said.get("content")
        blocks = content if isinstance(content, list) else []
        texts = [
            _text(block.get("text"))
            for block in blocks
            if isinstance(block, Mapping) and block.get("type") == "text"
        ]
        node_id = _text(said.get("uuid")) or str(place)
        yield _Node(
            id=node_id,
            parent=before,
            role=_text(said.get("sender")),
            text="\n".join(text for text in texts if text) or _text(said.get("text")),
            created_at=_moment(said.get("created_at")),
        )
        before = node_id


def _history(chat: Mapping[str, Any]) -> Mapping[str, Any]:
    found = chat.get("history")
    return found if isinstance(found, Mapping) else {}


def _of_open_webui(chat: Mapping[str, Any]) -> Iterator[_Node]:
    """The tree of `history`; the older list of the shown branch where there is none."""
    tree, listed = _history(chat).get("messages"), chat.get("messages")
    is_tree = isinstance(tree, Mapping) and bool(tree)
    found: list[Any] = listed if isinstance(listed, list) else []
    if isinstance(tree, Mapping) and is_tree:
        found = list(tree.values())
    before: str | None = None
    for place, said in enumerate(found):
        if not isinstance(said, Mapping):
            continue
        node_id = _text(said.get("id")) or str(place)
        yield _Node(
            id=node_id,
            parent=(_text(said.get("parentId")) or None) if is_tree else before,
            role=_text(said.get("role")),
            text=_without_reasoning(_text(said.get("content"))),
            created_at=_moment(said.get("timestamp")),
            model=_text(said.get("model"))[:100],
        )
        before = node_id


def _without_reasoning(text: str) -> str:
    """Drop the elements in which Open WebUI stores a model's thoughts, before its answer."""
    kept = []
    place = 0
    while (begin := text.find(_REASONING_BEGIN, place)) >= 0:
        end = text.find(_REASONING_END, begin)
        if end < 0:
            break
        kept.append(text[place:begin])
        space = _SPACE.match(text, end + len(_REASONING_END))
        assert space is not None  # it matches the empty text too
        place = space.end()
    return "".join([*kept, text[place:]])


def _of_ours(raw: Mapping[str, Any]) -> Iterator[_Node]:
    for said in raw["messages"]:
        if isinstance(said, Mapping):
            yield _Node(
                id=_text(said.get("id")),
                parent=_text(said.get("parent_id")) or None,
                role=_text(said.get("role")),
                text=_text(said.get("text")),
                created_at=_moment(said.get("created_at")),
                model=_text(said.get("model"))[:100],
            )


def _in_turns(nodes: dict[str, _Node]) -> tuple[list[ForeignMessage], dict[str, str]]:
    """The texts of users and assistants in turns: what has no text is passed over, and what the
    same one says after themselves joins what they said before.

    Returns:
        The messages, parents first; and for each node's id the message that it became part of.
    """
    if len(nodes) > MAX_MESSAGES:
        raise NotAChat(f"It has {len(nodes):,} messages; at most {MAX_MESSAGES:,} are taken.")
    roots = []
    for node in nodes.values():
        parent = nodes.get(node.parent or "")
        if parent is None:
            roots.append(node.id)
        else:
            parent.children.append(node.id)
    kept: dict[str, ForeignMessage] = {}
    became: dict[str, str] = {}
    waiting: list[tuple[str, str | None]] = [(root, None) for root in reversed(roots)]
    while waiting:  # a circle has no root, so that nothing in it is ever reached
        node_id, above = waiting.pop()
        here = _keep(nodes[node_id], kept.get(above or ""), kept)
        above = here.id if here is not None else above
        if above is not None:
            became[node_id] = above
        waiting.extend((child, above) for child in reversed(nodes[node_id].children))
    return list(kept.values()), became


def _keep(
    node: _Node, above: ForeignMessage | None, kept: dict[str, ForeignMessage]
) -> ForeignMessage | None:
    role = _ROLES.get(node.role)
    if role is None or not node.text.strip() or (above is None and role == "assistant"):
        return None
    if len(node.text) > MAX_TEXT:
        raise NotAChat(f"A message has {len(node.text):,} characters; at most {MAX_TEXT:,}.")
    if above is not None and above.role == role:
        above.text = f"{above.text}\n\n{node.text}"[:MAX_TEXT]
        return above
    message = ForeignMessage(
        id=node.id,
        parent=above.id if above is not None else None,
        role="user" if role == "user" else "assistant",
        text=node.text,
        created_at=node.created_at,
        model=node.model,
    )
    kept[node.id] = message
    return message


def _uuid(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None


def _text(value: Any) -> str:
    return value.replace("\x00", "") if isinstance(value, str) else ""


def _moment(value: Any) -> datetime | None:
    """Seconds since the epoch, or ISO 8601; None for anything else, and for the future."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value, UTC)
        elif isinstance(value, str):
            moment = datetime.fromisoformat(value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return moment if datetime(1990, 1, 1, tzinfo=UTC) < moment <= datetime.now(UTC) else None
