"""Content from outside: what a file or a tool brings into a conversation is data, never orders.

In a request it is a part `{"type": "data", "source", "text"}`, or a message of role `tool`. Before
anything runs, each is marked once (`outside_marked`): between two lines that its author cannot
know, below a sentence that says what it is. The mark is a keyed hash of the content, so a
request taken up by another process, and the next turn with its cached prefix, read the same.
Where the injection classifier has a doubt, its words are also marked one by one.
"""

import hashlib
import hmac
from dataclasses import replace
from typing import Any

import msgspec
from django.conf import settings

from backend.generation.request import ChatMessage, GenerationRequest
from safety.judge.spotlight import injection_score, spotlight, without_hidden_text

DATAMARK_FROM = 0.5
"""Injection score from which spaces are replaced too. Far below the policy's threshold for a
refusal: a mark costs an honest text some tokens, a refusal costs it everything."""


def outside_marked(request: GenerationRequest) -> GenerationRequest:
    """`request` with its outside content ready for a model. CPU-bound; call it in a thread."""
    messages = [_marked(message) for message in request.messages]
    return replace(request, messages=messages) if messages else request


def upstream_messages(request: GenerationRequest) -> list[dict[str, Any]]:
    """OpenAI's `messages`: outside content is text among text."""
    return [msgspec.to_builtins(_plain(message)) for message in request.messages]


def _marked(message: ChatMessage) -> ChatMessage:
    if message.role == "tool":
        return _with_content(message, [_mark("a tool's result", message.text)])
    if isinstance(message.content, str):
        return message
    parts = [
        _mark(str(part["source"]), str(part["text"])) if part["type"] == "data" else part
        for part in message.content
    ]
    return _with_content(message, parts)


def _mark(source: str, text: str) -> dict[str, Any]:
    marker = hmac.new(_key(), f"{source}\0{text}".encode(errors="replace"), hashlib.sha256)
    marked = spotlight(
        without_hidden_text(text),
        source=source,
        datamark=injection_score(text) >= DATAMARK_FROM,
        marker=marker.hexdigest()[:16],
    )
    return {"type": "data", "source": source, "text": text, "marked": marked}


def _key() -> bytes:
    return hashlib.sha256(b"parley.gateway.outside:" + settings.SECRET_KEY.encode()).digest()


def _plain(message: ChatMessage) -> ChatMessage:
    """Without `data` parts; a string where nothing but text is left."""
    if isinstance(message.content, str):
        return message
    parts = [
        {"type": "text", "text": part["marked"]} if part["type"] == "data" else part
        for part in message.content
    ]
    if any(part["type"] == "data" for part in message.content) and all(
        part["type"] == "text" for part in parts
    ):
        return _with_content(message, "\n\n".join(str(part["text"]) for part in parts))
    return _with_content(message, parts)


def _with_content(message: ChatMessage, content: str | list[dict[str, Any]]) -> ChatMessage:
    return msgspec.structs.replace(message, content=content)
