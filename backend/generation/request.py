"""The values that pass between `api`, the gateway and another process after a failover.

Frozen and encodable by msgspec, because a GenerationRequest is kept in Redis for as long as its
generation runs: another process must be able to finish it with nothing else in hand.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from backend.accounts.principal import Principal
from backend.conversations.types import ChatMessage
from backend.platform.errors import ParleyError
from safety.types import SafetyMessage

Endpoint = Literal["chat", "completion", "embedding"]

DONE = b"[DONE]"


class SamplingParams(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The validated sampling fields, by their upstream names; what is not set is not sent.

    `logprobs` is a bool for chat (with `top_logprobs`) and a count for completions, as OpenAI
    has it. `extra` is merged into the upstream request as it is.
    """

    max_tokens: int | None = None
    min_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    stop: list[str] | None = None
    logit_bias: dict[str, float] | None = None
    logprobs: bool | int | None = None
    top_logprobs: int | None = None
    ignore_eos: bool | None = None
    response_format: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None


class TurnIds(msgspec.Struct, frozen=True):
    """What the page learns of its turn with the first event."""

    conversation_id: str
    user_message_id: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """What is to be generated, for whom.

    Attributes:
        request_id: of the HTTP request; follows the generation into logs, rows and upstream.
        prompt: text or token ids; for the endpoint `completion`, which has no `messages`.
        client_hash: a keyed hash of the client's address, for the abuse detector.
        prompt_text: what a prompt of token ids says; filled in at admission.
        n: choices; each is generated, checked and counted on its own.
        stream_usage: a last chunk with the usage is sent before `[DONE]`.
        on_disconnect: with nobody reading: `cancel` at once, or after the `grace` period.
        message_id: the pending assistant message that this generation fills.
        timeout_s: from the start, time in the queue included; the settings give the usual one.
        generation_id: chosen by the caller, who wants to know it before anything runs (an
            `Idempotency-Key`); a second generation of one id is refused with Conflict. None:
            a new one.
        turn: for the chat page. It is added to the first event as `parley`, together with
            `generation_id`, and that event is sent at once, before there is any text.
    """

    principal: Principal
    request_id: str
    endpoint: Endpoint
    model: str
    messages: list[ChatMessage] = field(default_factory=list)
    prompt: str | list[int] | None = None
    prompt_text: str = ""
    params: SamplingParams = field(default_factory=SamplingParams)
    n: int = 1
    stream_usage: bool = False
    on_disconnect: Literal["cancel", "grace"] = "cancel"
    conversation_id: UUID | None = None
    message_id: UUID | None = None
    timeout_s: float | None = None
    generation_id: UUID | None = None
    client_hash: str = ""
    turn: TurnIds | None = None

    @property
    def affinity(self) -> str | None:
        """Requests of one conversation go to the same replica, whose prefix cache knows it."""
        return str(self.conversation_id) if self.conversation_id else None

    @property
    def safety_messages(self) -> list[SafetyMessage]:
        """What the classifiers see. An attached file counts as the user's words: who asks for
        harm by a file asks for harm."""
        if self.endpoint == "chat":
            return [
                SafetyMessage(message.role, text)
                for message in self.messages
                for text in message.texts
            ]
        prompt = self.prompt
        return [SafetyMessage("user", prompt if isinstance(prompt, str) else self.prompt_text)]


class AdmittedGeneration(msgspec.Struct, frozen=True):
    """What a process needs to run a generation, or to continue it after a failover.

    Attributes:
        token_estimate: tokens that the rate limit has charged, to be set right at the end.
    """

    id: UUID
    request: GenerationRequest
    created_at: datetime
    deadline_at: datetime
    token_estimate: int

    @property
    def public_id(self) -> str:
        """The id that clients see: OpenAI's prefix and our generation id."""
        return public_id(self.id, self.request.endpoint)


def public_id(generation_id: UUID, endpoint: str) -> str:
    """See `AdmittedGeneration.public_id`."""
    return f"{'chatcmpl' if endpoint == 'chat' else 'cmpl'}-{generation_id.hex}"


@dataclass(frozen=True, slots=True)
class StartedGeneration:
    """A generation that was admitted. `ratelimit_headers` are the `x-ratelimit-*` headers."""

    id: UUID
    created: int
    model: str
    ratelimit_headers: dict[str, str]


class Event(msgspec.Struct, frozen=True):
    """One event of the client's stream.

    Attributes:
        seq: 1, 2, 3 …: the SSE `id`.
        data: JSON of a chunk or of `{"error": …}`; `[DONE]` last.
    """

    seq: int
    data: bytes


class Usage(msgspec.Struct, frozen=True):
    """What is metered: what was delivered, not what was computed."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0

    def as_openai(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.input_tokens,
            "completion_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_input_tokens},
        }


@dataclass(frozen=True, slots=True)
class CompletionChoice:
    index: int
    text: str
    finish_reason: str
    logprobs: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """The whole answer of one generation, for callers that do not stream.

    `error` is set when it was cut short (a timeout, say) after text had been generated: the
    text was delivered and is billed, so it is returned rather than thrown away.
    """

    public_id: str
    created: int
    model: str
    endpoint: Endpoint
    choices: list[CompletionChoice]
    usage: Usage
    error: ParleyError | None = None

    def as_openai(self) -> dict[str, Any]:
        """OpenAI's `chat.completion` or `text_completion` object."""
        chat = self.endpoint == "chat"
        body: dict[str, Any] = {
            "id": self.public_id,
            "object": "chat.completion" if chat else "text_completion",
            "created": self.created,
            "model": self.model,
            "choices": [_choice(choice, chat=chat) for choice in self.choices],
            "usage": self.usage.as_openai(),
        }
        if self.error is not None:
            body["parley"] = self.error.as_dict()
        return body


def _choice(choice: CompletionChoice, *, chat: bool) -> dict[str, Any]:
    shared = {
        "index": choice.index,
        "logprobs": choice.logprobs,
        "finish_reason": choice.finish_reason,
    }
    if not chat:
        return {**shared, "text": choice.text}
    return {**shared, "message": {"role": "assistant", "content": choice.text, "refusal": None}}
