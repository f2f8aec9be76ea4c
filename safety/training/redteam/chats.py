"""Attacks that need a stored chat: a file that is attached or belongs to the chat's project or
assistant, what is remembered, a chat of another product, a copy of one that is shared."""

import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from safety.training.redteam.attacks import Attack

MAX_MEMORY = 300
"""Characters that the product remembers at once."""


@dataclass(frozen=True, slots=True)
class StoredChat:
    """Where the last message of an attack is sent, and as what."""

    path: str
    body: dict[str, Any]


def stored_chat(client: httpx.Client, attack: Attack, *, model: str) -> StoredChat:
    """A new chat in which all but the last message of `attack` is there. Raises HTTPStatusError."""
    text = attack.messages[-1]["content"]
    content: str | list[dict[str, str]] = text
    wanted = {} if model == "auto" else {"model": model}
    if attack.memory:
        _checked(client.put("/api/memories/settings", json={"is_on": True}))
        _checked(client.post("/api/memories", json={"text": attack.memory[:MAX_MEMORY]}))
    if attack.document:
        sent = client.post("/api/attachments", files={"file": ("it.txt", attack.document.encode())})
        file = str(_checked(sent)["id"])
        if attack.file_of:
            wanted |= _owner_of(client, file, attack.file_of)
        else:
            part = {"type": "file", "attachment_id": file}
            content = [{"type": "text", "text": text}, part]
    chat = _imported(client, attack) if attack.is_imported else _made(client, wanted)
    if attack.is_copied:
        link = _checked(client.post(f"/api/conversations/{chat}/shares", json={}))
        chat = str(_checked(client.post(f"/api/shared/{link['token']}/copy", json={}))["id"])
    return StoredChat(f"/api/conversations/{chat}/messages", {"content": content})


def _owner_of(client: httpx.Client, file: str, kind: str) -> dict[str, str]:
    """What a chat names to belong to a new project or assistant that has `file`."""
    made = _checked(client.post(f"/api/{kind}s", json={"name": f"Ferries {uuid4().hex[:8]}"}))
    added = client.post(f"/api/{kind}s/{made['id']}/files", json={"attachment_id": file})
    _checked(added)
    return {f"{kind}_id": str(made["id"])}


def _made(client: httpx.Client, wanted: dict[str, str]) -> str:
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
