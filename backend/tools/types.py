"""What all of tools speaks of: where a server is, a tool as it is described, what a call says."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, TypedDict
from uuid import UUID

MAX_RESULT = 16_000
SERVER_ERROR = "Tool server error"
SEARCH_ERROR = "Search service error"
WHAT = "A tool server's URL"
SEARCH_WHAT = "A search service's address"
TO_PRIVATE_SWITCH = "PARLEY_TOOLS_TO_PRIVATE"
"""The setting that lets both be at private addresses."""


class ToolFailed(Exception):
    """A server did not do what it was asked. The message is for people and models.

    Attributes:
        code: by which the page knows what to say in its reader's language.
    """

    def __init__(self, message: str, *, code: str = "tool_failed") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and what it wants to see.

    Attributes:
        connection_id: whose tokens are sent, where somebody signs in there.
    """

    url: str
    token: str = ""
    connection_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool as its server describes it now."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    claims_read_only: bool
    claims_destructive: bool

    @property
    def fingerprint(self) -> str:
        """Of everything that a model or a person reads of it."""
        said = [
            self.name,
            self.title,
            self.description,
            self.input_schema,
            self.claims_read_only,
            self.claims_destructive,
        ]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


class Source(TypedDict):
    """A page that a result is from."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Made:
    """What a call says: untrusted text, and the pages that it is from."""

    text: str
    sources: list[Source] = field(default_factory=list)


def stored_text(text: str) -> str:
    """`text` as PostgreSQL can store it."""
    return text.encode(errors="replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")


def cut(text: str) -> str:
    """At most MAX_RESULT characters, and a word that it was more."""
    if len(text) <= MAX_RESULT:
        return text
    return f"{text[:MAX_RESULT]}\n[cut: the result has {len(text):,} characters]"
