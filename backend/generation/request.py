"""The values that pass between `api`, the gateway and another process after a failover.

Frozen and encodable by msgspec, because a GenerationRequest is kept in Redis for as long as its
generation runs: another process must be able to finish it with nothing else in hand.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from backend.accounts.principal import Principal
from backend.conversations.types import ChatMessage
from backend.generation.tools import Tools
from backend.platform.ids import time_ordered_id
from safety.types import SafetyMessage

Endpoint = Literal[
    "chat", "completion", "embedding", "rerank", "transcription", "translation", "speech"
]

Reuse = Literal["allowed", "refresh", "never"]

DONE = b"[DONE]"
MAX_OUTPUT_TOKENS = 1_000_000


class SamplingParams(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The sampling parameters, by their upstream names; what is not set is not sent.

    The product's one table of their names, types and bounds: bodies of the API take them over
    (`backend/api/schemas/openai_parameters.py`). The engine has its own in `inference/core.py`,
    because the two meet over HTTP only; a test compares them.

    `logprobs` is a bool for chat (with `top_logprobs`) and a count for completions, as OpenAI
    has it. `extra` is merged into the upstream request as it is.
    """

    max_tokens: int | None = None
    min_tokens: Annotated[int, Meta(ge=0, le=MAX_OUTPUT_TOKENS)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=-1, le=1_000_000)] | None = None
    min_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    repetition_penalty: Annotated[float, Meta(gt=0, le=10)] | None = None
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    stop: list[str] | None = None
    logit_bias: dict[str, float] | None = None
    logprobs: bool | int | None = None
    top_logprobs: int | None = None
    ignore_eos: bool | None = None
    stop_on_loop: bool | None = None
    response_format: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None


MAX_CHOICES_AT_ONCE = 16


def active_choices(n: int) -> int:
    """How many of `n` choices of one generation are generated at once; the others wait for them."""
    return min(n, MAX_CHOICES_AT_ONCE)


class TurnIds(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the page learns of its turn with the first event.

    Attributes:
        support: the page shows where to find help: the person speaks of self-harm.
    """

    conversation_id: str
    user_message_id: str
    message_id: str
    support: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """What is to be generated, for whom.

    Attributes:
        request_id: of the HTTP request; follows the generation into logs, rows and upstream.
        prompt: text or token ids; for the endpoint `completion`, which has no `messages`.
        client_hash: a keyed hash of the client's address, for the abuse detector.
        more_prompts: after `prompt`, answered in the same generation; choices are ordered by
            prompt.
        prompt_texts: what the prompts say where they are token ids; filled in at admission.
        suffix: of the endpoint `completion`: what comes after the answer.
        echo: each choice begins with its prompt, which is no output.
        n: choices, of all prompts together; each is generated, checked and counted on its own.
        stream_usage: a last chunk with the usage is sent before `[DONE]`.
        on_disconnect: when no reader is left: `cancel` at once, or after the `grace` period,
            or never (`go_on`).
        stores_answer: its text is kept (models.StoredAnswer) until its caller deletes it.
        retention_days: the most days that anything of it is kept, whatever a policy or a key for
            retries wants; 0: nothing outlives its delivery (`store: false`).
        message_id: the pending assistant message that this generation fills.
        service_tier: "" for the usual one; `batch` has a price of its own, no rate limit, and what
            it waits for a place is bounded by its caller.
        reasoning_effort: how much the model is to think; "" for what its template has it do.
        prediction: what a chat's answer is expected to be: draft tokens, which no model reads.
        continues_answer: the last message is the beginning of the answer, by the caller; what is
            generated goes on in it, and it is input.
        timeout_s: from the start, time in the queue included; the settings give the usual one.
        generation_id: chosen by the caller, who wants to know it before anything runs (an
            `Idempotency-Key`); a second generation of one id is refused with Conflict. None:
            a new one.
        reuse: whether another request's answer may answer it: `refresh` computes it anew and may
            store that, `never` does neither.
        turn: for the chat page. It is added to the first event as `parley`, together with
            `generation_id`, and that event is sent at once, before there is any text.
    """

    principal: Principal
    request_id: str
    endpoint: Endpoint
    model: str
    messages: list[ChatMessage] = field(default_factory=list)
    prompt: str | list[int] | None = None
    more_prompts: list[str | list[int]] = field(default_factory=list)
    prompt_texts: list[str] = field(default_factory=list)
    suffix: str = ""
    echo: bool = False
    params: SamplingParams = field(default_factory=SamplingParams)
    tools: Tools | None = None
    n: int = 1
    stream_usage: bool = False
    on_disconnect: Literal["cancel", "grace", "go_on"] = "cancel"
    stores_answer: bool = False
    retention_days: int | None = None
    conversation_id: UUID | None = None
    message_id: UUID | None = None
    timeout_s: float | None = None
    generation_id: UUID | None = None
    client_hash: str = ""
    turn: TurnIds | None = None
    service_tier: str = ""
    reasoning_effort: str = ""
    prediction: str = ""
    continues_answer: bool = False
    reuse: Reuse = "allowed"

    @property
    def outlives_delivery(self) -> bool:
        """Whether anything of it may be stored."""
        return self.retention_days != 0

    def retained(self, policy_days: int) -> int:
        """For how many days a checked text is retained that the policy would for `policy_days`."""
        return policy_days if self.retention_days is None else min(policy_days, self.retention_days)

    @property
    def safety_messages(self) -> list[SafetyMessage]:
        """What the classifiers see. An attached file counts as the user's words: who asks for
        harm by a file asks for harm, but orders in it are not theirs; so does the beginning of an
        answer that the user wrote. What tools say of themselves is untrusted, unless a manager
        has looked at it."""
        if self.endpoint == "chat":
            about_tools = self._about_tools()
            return about_tools + [
                SafetyMessage(self._author_of(number), text, is_data=is_data)
                for number, message in enumerate(self.messages)
                for text, is_data in message.checked_texts
            ]
        texts = [self.text_of(number) for number in range(len(self.prompts))]
        return [SafetyMessage("user", text) for text in [*texts, self.suffix] if text]

    def _about_tools(self) -> list[SafetyMessage]:
        if self.tools is None:
            return []
        role = "system" if self.tools.is_reviewed else "tool"
        return [SafetyMessage(role, text) for text in self.tools.texts]

    def _author_of(self, number: int) -> str:
        """The role of a message, by who wrote it."""
        is_begun = self.continues_answer and number == len(self.messages) - 1
        return "user" if is_begun else self.messages[number].role

    @property
    def prompts(self) -> list[str | list[int]]:
        """Of a completion; none of a chat."""
        return [] if self.prompt is None else [self.prompt, *self.more_prompts]

    @property
    def groups(self) -> int:
        """How many prompts its choices share: a chat is one."""
        return 1 + len(self.more_prompts)

    def group_of(self, choice: int) -> int:
        """The number of the prompt that `choice` answers."""
        return choice * self.groups // self.n

    def text_of(self, number: int) -> str:
        """What a prompt says."""
        prompt = self.prompts[number]
        if isinstance(prompt, str):
            return prompt
        return self.prompt_texts[number] if self.prompt_texts else ""

    def echo_of(self, choice: int) -> str:
        """What `choice` begins with before its answer."""
        return self.text_of(self.group_of(choice)) if self.echo else ""

    def context_of(self, choice: int) -> list[SafetyMessage]:
        """What the classifier of a choice's answer sees of its prompt."""
        if not self.more_prompts:
            return self.safety_messages
        return [SafetyMessage("user", self.text_of(self.group_of(choice)))]


class AdmittedGeneration(msgspec.Struct, frozen=True):
    """What a process needs to run a generation, or to continue it after a failover.

    Attributes:
        token_estimate: tokens that the rate limit has charged, to be set right at the end.
        pool: the id of the pool that serves it; empty in those of the version before.
        mark: by which its answer is counted where a model is tried beside it (pools/rollouts.py).
        traceparent: of its trace, for whoever goes on with it; "" for none.
        may_hold_reservation: False where no budget bound its caller as it was admitted.
    """

    id: UUID
    request: GenerationRequest
    created_at: datetime
    deadline_at: datetime
    token_estimate: int
    pool: str = ""
    mark: str = ""
    traceparent: str = ""
    may_hold_reservation: bool = True

    @property
    def public_id(self) -> str:
        """The id that clients see: OpenAI's prefix and our generation id."""
        return public_id(self.id, self.request.endpoint)


def admitted_now(
    request: GenerationRequest,
    *,
    generation_id: UUID | None,
    timeout_s: float,
    token_estimate: int = 0,
) -> AdmittedGeneration:
    """One that begins now, at the pool of its model, under a new id where it has none."""
    now = datetime.now(UTC)
    return AdmittedGeneration(
        generation_id or time_ordered_id(),
        request,
        now,
        now + timedelta(seconds=timeout_s),
        token_estimate,
        request.model,
    )


def public_id(generation_id: UUID, endpoint: str) -> str:
    """See `AdmittedGeneration.public_id`."""
    return f"{'chatcmpl' if endpoint == 'chat' else 'cmpl'}-{generation_id.hex}"


@dataclass(frozen=True, slots=True)
class StartedGeneration:
    """A generation that was admitted.

    Attributes:
        model: that serves it.
        headers: of its answer: `x-ratelimit-*`, and `x-parley-fallback-from` where `model` stands
            in for the one that was asked for. `x-parley-notice` where images were read by OCR.
    """

    id: UUID
    created: int
    model: str
    headers: dict[str, str]


class Event(msgspec.Struct, frozen=True):
    """One event of the client's stream.

    Attributes:
        seq: 1, 2, 3 …: the SSE `id`.
        data: JSON of a chunk or of `{"error": …}`; `[DONE]` last.
        meta: an encoded EventMeta, for who reads as another generation; no client's.
    """

    seq: int
    data: bytes
    meta: bytes = b""
