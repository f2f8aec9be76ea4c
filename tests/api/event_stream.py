"""Reads a server-sent event stream as the standard says, apart from the product's encoder."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ReadEvent:
    id: str | None
    data: str

    @property
    def json(self) -> Any:
        return json.loads(self.data)


def read_events(body: bytes | str) -> list[ReadEvent]:
    """The events of a complete body; comments are skipped. AssertionError on a cut-off event."""
    text = body.decode() if isinstance(body, bytes) else body
    *blocks, rest = text.split("\n\n")
    assert rest == "", f"the stream ends within an event: {rest!r}"
    events = []
    for block in blocks:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            if line.startswith(":"):
                continue
            name, _, value = line.partition(": ")
            assert name in {"id", "data"}, line
            fields[name] = value
        if fields:
            events.append(ReadEvent(fields.get("id"), fields["data"]))
    return events


def text_of(events: list[ReadEvent], index: int = 0) -> str:
    """The answer of one choice, from chat or text chunks."""
    parts = []
    for event in events:
        if event.data == "[DONE]":
            break
        for choice in event.json.get("choices", []):
            if choice["index"] == index:
                delta = choice.get("delta", {}).get("content") or choice.get("text") or ""
                parts.append(delta)
    return "".join(parts)
