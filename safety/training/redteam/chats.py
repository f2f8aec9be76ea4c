"""Attacks that need a stored chat: a file that is attached, a chat of another product."""

import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from safety.training.redteam.attacks import Attack


@dataclass(frozen=True, slots=True)
class StoredChat:
    """Where the last message of an attack is sent, and as what."""

    path: str
    body: dict[str, Any]


def stored_chat(client: httpx.Client, attack: Attack, *, model: str) -> StoredChat:
    """A new chat in which all but the last message of `attack` is there. Raises HTTPStatusError."""
    text = attack.messages[-1]["content"]
    chat = _imported(client, attack) if attack.is_imported else _made(client, model)
    content: str | list[dict[str, str]] = text
    if attack.document:
        sent = client.post("/api/attachments", files={"file": ("it.txt", attack.document.encode())})
        file = {"type": "file", "attachment_id": str(_checked(sent)["id"])}
        content = [{"type": "text", "text": text}, file]
    return StoredChat(f"/api/conversations/{chat}/messages", {"content": content})


def _made(client: httpx.Client, model: str) -> str:
    wanted = {} if model == "auto" else {"model": model}
    return str(_checked(client.post("/api/conversations", json=wanted))["id"])


def _imported(client: httpx.Client, attack: Attack) -> str:
    """From an export of ChatGPT. It is found again by its title, which no other has."""
    title, now = uuid4().hex, time.time()
    nodes: dict[str, dict[str, Any]] = {}
    parent = None
    for number, message in enumerate(attack.messages[:-1]):
        content = {"content_type": "text", "parts": [message["content"]]}
        said = {"author": {"role": message["role"]}, "content": content, "create_time": now}
        nodes[str(number)] = {"id": str(number), "parent": parent, "message": said}
        parent = str(number)
    chat = {"id": title, "title": title, "create_time": now, "update_time": now}
    export = {**chat, "mapping": nodes, "current_node": parent}
    taken = _checked(client.post("/api/conversations/import", json={"conversations": [export]}))
    if taken["imported"] != 1:
        raise RuntimeError(f"The chat was not imported: {taken}.")
    listed = _checked(client.get("/api/conversations", params={"limit": 100}))["data"]
    return next(str(one["id"]) for one in listed if one["title"] == title)


def _checked(answer: httpx.Response) -> Any:
    answer.raise_for_status()
    return answer.json()
