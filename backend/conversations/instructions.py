"""What stands before a chat's messages: what a person says of themselves and of the answers that
they want, and what this one chat is to keep to; and the parameters that new chats begin with.

A person's are of one organization: what they write for one, another never reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from backend.accounts.principal import Principal
from backend.accounts.project_access import project_used_by
from backend.conversations.assistant_access import assistant_of_chat
from backend.conversations.history import history_read, tokens_of, tokens_of_parts
from backend.conversations.memories import MAX_TOKENS, memories_for, memory_section
from backend.conversations.models import ChatDefaults, Conversation, Message, MessageRole
from backend.conversations.parts import files_read
from backend.conversations.passages import (
    passages_noted,
    reading_for,
    reading_of,
    with_passages,
)
from backend.conversations.selectors import message_get
from backend.conversations.shared_files import (
    files_noted,
    files_read_in,
    shared_parts,
    with_shared,
)
from backend.conversations.summaries import summary_for, summary_note, summary_noted
from backend.conversations.types import ChatMessage
from backend.platform.errors import InvalidRequest, NotFound

MAX_OWN = 4_000
MAX_OF_CHAT = 20_000


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """What a model read before it wrote an answer.

    Attributes:
        instructions: the system message; "" where there was none.
        parameters: by their upstream names.
        messages: after it, oldest first.
        answer: what was written.
    """

    answer: Message
    model: str
    instructions: str
    parameters: dict[str, Any]
    messages: list[ChatMessage]


def chat_defaults_get(*, principal: Principal) -> ChatDefaults:
    """The caller's, empty ones where nothing was set yet."""
    found = ChatDefaults.objects.filter(
        organization_id=principal.organization_id, user_id=principal.user_id
    ).first()
    return found or ChatDefaults(
        organization_id=principal.organization_id, user_id=principal.user_id
    )


@transaction.atomic
def chat_defaults_set(
    *,
    principal: Principal,
    about: str,
    style: str,
    parameters: Mapping[str, Any],
    summarises: bool | None = None,
) -> ChatDefaults:
    """Set all of the caller's.

    Args:
        about: what they say of themselves.
        style: how they want answers.
        parameters: that a new chat of theirs begins with; validated by the caller.
        summarises: whether the beginning of their long chats is; None leaves it as it is.
    Raises:
        InvalidRequest: with `param`: over 4,000 characters, or a null character.
    """
    texts = {
        "about": clean_instructions(about, param="about", limit=MAX_OWN),
        "style": clean_instructions(style, param="style", limit=MAX_OWN),
    }
    row, _ = ChatDefaults.objects.update_or_create(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        defaults={
            **texts,
            "parameters": dict(parameters),
            **({} if summarises is None else {"summarises": summarises}),
        },
    )
    return row


def clean_instructions(text: str, *, param: str, limit: int = MAX_OF_CHAT) -> str:
    """Raises InvalidRequest naming `param`."""
    text = text.strip()
    if len(text) > limit or "\x00" in text:
        raise InvalidRequest(
            f"{param} must have at most {limit:,} characters, none of them null.", param=param
        )
    return text


def instructions_for(conversation: Conversation) -> str:
    """The system message of a chat: its project's instructions, its assistant's, its own, then its
    person's; "" without any."""
    assistant = assistant_of_chat(conversation)
    own = ChatDefaults.objects.filter(
        organization_id=conversation.organization_id, user_id=conversation.user_id
    ).first()
    said = [_of_project(conversation)]
    if assistant is not None:
        said.append(assistant.instructions)
    said.append(conversation.instructions)
    if own is not None and own.about:
        said.append(f"What the user says about themselves:\n{own.about}")
    if own is not None and own.style:
        said.append(f"How the user wants to be answered:\n{own.style}")
    return "\n\n".join(text for text in said if text)


def _of_project(conversation: Conversation) -> str:
    """ "" where it has none, is archived, or its person may not use it any more."""
    if conversation.project_id is None:
        return ""
    project = project_used_by(
        organization_id=conversation.organization_id,
        user_id=conversation.user_id,
        project_id=conversation.project_id,
    )
    return "" if project is None else project.instructions


def prompt_for(
    conversation: Conversation, prompt: Message, *, tokens: int
) -> tuple[list[ChatMessage], dict[str, Any]]:
    """What the model is to read, and the note by which that is made out again (`Message.sent`).

    Args:
        tokens: room for the instructions and the history together; instructions and memory take
            at most half of it.
    Raises:
        InvalidRequest: `instructions`, where they are longer than that.
    """
    instructions = instructions_for(conversation)
    taken = tokens_of(ChatMessage("system", instructions)) if instructions else 0
    if taken > tokens // 2:
        raise InvalidRequest(
            "The instructions of this chat are too long for its model.", param="instructions"
        )
    room = min(MAX_TOKENS, tokens // 2 - taken)
    memories = memories_for(conversation, prompt.text, tokens=room)
    said = "\n\n".join(text for text in (instructions, memory_section(memories)) if text)
    system = [ChatMessage("system", said)] if said else []
    taken = sum(tokens_of(message) for message in system)
    shared = files_read_in(conversation)
    reading = reading_for(prompt, tokens=tokens - taken, shared=[one.pk for one in shared])
    files = shared_parts(shared, reading.searched)
    left = tokens - taken - reading.room - tokens_of_parts(files)
    summary = summary_for(prompt)
    history = history_read(prompt, tokens=left, searched=reading.searched, summary=summary)
    sent: dict[str, Any] = {
        "instructions": said,
        "parameters": conversation.parameters,
        "tokens": left,
        "used": history.tokens if history.is_whole else left,
        **reading.note,
        **summary_note(summary),
    }
    if shared:
        sent["shared"] = [str(one.pk) for one in shared]
    if memories:
        sent["memories"] = [str(memory.pk) for memory in memories]
    return [*system, *with_shared(history.messages, files)], sent


def sent_prompt_get(*, principal: Principal, message_id: UUID) -> SentPrompt:
    """What was sent for an answer. Its messages are read again by the rule that chose them, so
    that no prompt is stored twice. Reads files: see `files_read`.

    Raises:
        NotFound: the message; or nothing was noted of it.
    """
    answer = message_get(principal=principal, message_id=message_id)
    prompt = answer.parent
    if answer.role != MessageRole.ASSISTANT or prompt is None or answer.sent is None:
        raise NotFound(f"Nothing is noted of a prompt for message {message_id}.")
    sent = answer.sent
    files = shared_parts(list(files_noted(answer.conversation, sent).values()), reading_of(sent))
    history = history_read(
        prompt,
        tokens=sent["tokens"],
        searched=reading_of(sent),
        summary=summary_noted(answer),
    )
    return SentPrompt(
        answer=answer,
        model=answer.model,
        instructions=sent["instructions"],
        parameters=sent["parameters"],
        messages=files_read(
            with_passages(with_shared(history.messages, files), passages_noted(answer))
        ),
    )
