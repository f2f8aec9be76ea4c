"""What the model reads: the path of the tree that ends with the prompt."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.conversations.models import (
    Attachment,
    ConversationSummary,
    Message,
    MessageRole,
    MessageStatus,
)
from backend.conversations.parts import BYTES_PER_TOKEN, TOKENS_PER_IMAGE, parts_for_model
from backend.conversations.tree import MESSAGE_OVERHEAD, path_to
from backend.conversations.types import (
    ChatMessage,
    ImagePart,
    Part,
    StoredPart,
    TextPart,
    ToolCall,
    UntrustedPart,
)

_TOKENS_PER_MESSAGE = MESSAGE_OVERHEAD // BYTES_PER_TOKEN
_IN_TURNS = {MessageRole.USER, MessageRole.ASSISTANT}
_OF_PROGRAMS = {"call", "call_output", "instruction", "removed", "reasoning"}
# A longer line reads like orders to the injection classifier.
_SUMMARY = "Summary:"


@dataclass(frozen=True, slots=True)
class Entry:
    """A message as models read it, and the first stored one that it is made of."""

    message: ChatMessage
    origin: Message


@dataclass(frozen=True, slots=True)
class History:
    """Attributes:
    entries: a little more than fits, oldest first.
    is_whole: whether it begins where the chat does, or its summary ends.
    """

    entries: list[Entry]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """What of a chat a model reads.

    Attributes:
        summary: of what is before `entries`; None without one.
        entries: what fits, oldest first.
        is_whole: nothing is left out between the beginning, or the summary, and the end.
    """

    summary: ChatMessage | None
    entries: list[Entry]
    is_whole: bool

    @property
    def messages(self) -> list[ChatMessage]:
        said = [one.message for one in self.entries]
        if self.summary is None:
            return said
        if said and said[0].role == MessageRole.USER:
            return [_joined(self.summary, said[0]), *said[1:]]
        return [self.summary, *said]

    @property
    def tokens(self) -> int:
        return sum(tokens_of(message) for message in self.messages)


def history_read(
    leaf: Message,
    *,
    tokens: int,
    searched: Collection[UUID] = (),
    summary: ConversationSummary | None = None,
) -> Reading:
    """The newest messages down to `leaf` that fit into about `tokens`.

    Oldest first, user and assistant in turns. The work follows `tokens`, not the length of the
    conversation. Left out are a prompt that was blocked, with its empty answer, or the
    classifier would refuse every later turn; and an empty answer that failed or was stopped,
    whose prompt is then joined to the next one. Of the files `searched` only a note is left
    (passages.py). What `summary` covers is left out too, for the summary.
    """
    stands_for = _summary_message(summary) if summary is not None else None
    left = tokens - (tokens_of(stands_for) if stands_for is not None else 0)
    history = history_of(leaf, tokens=left, searched=searched, summary=summary)
    first = kept_from([one.message for one in history.entries], tokens=left)
    return Reading(stands_for, history.entries[first:], history.is_whole and first == 0)


def _summary_message(summary: ConversationSummary) -> ChatMessage:
    """It says what files and tools said, so it is data as those are: never in the system role."""
    data = UntrustedPart("a summary of the earlier conversation", summary.text)
    return ChatMessage("user", [TextPart(_SUMMARY, is_ours=True), data])


def history_of(
    leaf: Message,
    *,
    tokens: int,
    searched: Collection[UUID] = (),
    summary: ConversationSummary | None = None,
) -> History:
    """What of the chat down to `leaf`, and below what `summary` covers, may fit into about
    `tokens`."""
    path = path_to(
        conversation_id=leaf.conversation_id,
        leaf_id=leaf.id,
        max_bytes=tokens * BYTES_PER_TOKEN,
    )
    is_whole = bool(path) and path[0].parent_id is None
    covered = [at for at, one in enumerate(path) if summary and one.pk == summary.through_id]
    if covered:
        path, is_whole = path[covered[0] + 1 :], True
    attachments = _attachments_of(path)
    entries: list[Entry] = []
    for message in _without_blocked(path):
        if message.role == MessageRole.ASSISTANT and not message.text:
            continue
        for spoken in _spoken(message, attachments, searched):
            if entries and entries[-1].message.role == spoken.role in _IN_TURNS:
                entries[-1] = Entry(_joined(entries[-1].message, spoken), entries[-1].origin)
            else:
                entries.append(Entry(spoken, message))
    return History(_with_outputs(entries), is_whole)


def kept_from(history: Sequence[ChatMessage], *, tokens: int) -> int:
    """Where the newest part of `history` begins that fits into about `tokens`: with a prompt.

    A long conversation goes on, and forgets its beginning. The last prompt always stays: too
    long for the model all by itself, it is refused with a message that says so.
    """
    last = len(history) - 1
    # Results of tools stay with the prompt and the calls that led to them.
    kept = next((at for at in range(last, 0, -1) if history[at].role == MessageRole.USER), 0)
    left = tokens - sum(tokens_of(message) for message in history[kept:])
    while kept > 0 and (left := left - tokens_of(history[kept - 1])) >= 0:
        kept -= 1
    begins = (at for at in range(kept, len(history)) if history[at].role == MessageRole.USER)
    return next(begins, kept)


def _spoken(
    message: Message, attachments: Mapping[UUID, Attachment], searched: Collection[UUID]
) -> list[ChatMessage]:
    """What one message says: a program's may hold calls, their outputs and instructions."""
    by_kind: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for part in message.content:
        by_kind[part["type"] if part["type"] in _OF_PROGRAMS else ""].append(part)
    calls = [ToolCall(p["call_id"], p["name"], p["arguments"]) for p in by_kind["call"]]
    outputs = [
        ChatMessage("tool", part["output"], tool_call_id=part["call_id"])
        for part in by_kind["call_output"]
    ]
    instructions = [ChatMessage("system", part["text"]) for part in by_kind["instruction"]]
    said = parts_for_model(by_kind[""], attachments, searched)
    own = [ChatMessage(message.role, said, None, calls)] if said or calls else []
    return [*outputs, *instructions, *own]


def _with_outputs(entries: Sequence[Entry]) -> list[Entry]:
    """`entries` in which every call has an output: models refuse one that was never answered, as
    when its person wrote on instead of allowing it."""
    answered = {one.message.tool_call_id for one in entries}
    whole: list[Entry] = []
    for one in entries:
        whole.append(one)
        whole += [
            Entry(ChatMessage("tool", "This call was not made.", tool_call_id=call.id), one.origin)
            for call in one.message.tool_calls
            if call.id not in answered
        ]
    return whole


def tokens_of(message: ChatMessage) -> int:
    """About how many tokens a message takes."""
    return _TOKENS_PER_MESSAGE + tokens_of_parts(message.parts)


def tokens_of_parts(parts: Iterable[Part]) -> int:
    count = 0
    for part in parts:
        if isinstance(part, ImagePart):
            count += TOKENS_PER_IMAGE
        elif isinstance(part, StoredPart):
            count += part.tokens
        else:
            count += len(part.text.encode()) // BYTES_PER_TOKEN
    return count


def _without_blocked(path: list[Message]) -> list[Message]:
    refused = {
        message.parent_id
        for message in path
        if message.status == MessageStatus.BLOCKED and not message.text
    }
    return [message for message in path if message.id not in refused]


def _attachments_of(path: Iterable[Message]) -> dict[UUID, Attachment]:
    wanted = {
        part["attachment_id"]
        for message in path
        for part in message.content
        if "attachment_id" in part
    }
    return Attachment.objects.in_bulk(wanted) if wanted else {}


def _joined(first: ChatMessage, second: ChatMessage) -> ChatMessage:
    if isinstance(first.content, str) and isinstance(second.content, str):
        text = f"{first.content}\n\n{second.content}"
        return ChatMessage(first.role, text, None, first.tool_calls + second.tool_calls)
    return ChatMessage(first.role, first.parts + second.parts)
