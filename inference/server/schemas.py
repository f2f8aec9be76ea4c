"""Request bodies. A field that is not here is refused with a 400 that names it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from inference.server.structured import ResponseFormat

MAX_LOGPROBS = 20
MAX_TOP_K = 1_000_000
"""More than any vocabulary has tokens; the core computes with it in 64 bits."""

Fraction = Annotated[float, Meta(ge=0.0, le=1.0)]
Penalty = Annotated[float, Meta(ge=-2.0, le=2.0)]
NaturalNumber = Annotated[int, Meta(ge=0)]
PositiveNumber = Annotated[int, Meta(ge=1)]
Priority = Annotated[int, Meta(ge=-(2**31), lt=2**31)]
TokenId = Annotated[int, Meta(ge=0)]
Prompts = str | Annotated[list[TokenId | str | list[TokenId]], Meta(min_length=1, max_length=65536)]
"""Text, token ids, or a list of either; never a mixture."""
StopString = Annotated[str, Meta(min_length=1, max_length=256)]


class StreamOptions(msgspec.Struct, forbid_unknown_fields=True):
    include_usage: bool = False
    continuous_usage_stats: bool = False


class GenerationFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What chat and text completions have in common."""

    model: str | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Meta(ge=1, le=16)] | None = None
    stop: StopString | Annotated[list[StopString], Meta(max_length=16)] | None = None
    stop_token_ids: list[TokenId] | None = None
    temperature: Annotated[float, Meta(ge=0.0, le=2.0)] | None = None
    top_p: Annotated[float, Meta(gt=0.0, le=1.0)] | None = None
    top_k: Annotated[int, Meta(ge=-1, le=MAX_TOP_K)] | None = None
    min_p: Fraction | None = None
    repetition_penalty: Annotated[float, Meta(gt=0.0, le=10.0)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    logit_bias: dict[str, Annotated[float, Meta(ge=-100.0, le=100.0)]] | None = None
    seed: int | None = None
    max_tokens: PositiveNumber | None = None
    min_tokens: NaturalNumber | None = None
    ignore_eos: bool = False
    skip_special_tokens: bool = True
    response_format: ResponseFormat | None = None
    guided_regex: Annotated[str, Meta(max_length=4096)] | None = None
    guided_choice: Annotated[list[str], Meta(min_length=1, max_length=256)] | None = None
    priority: Priority = 0
    timeout_s: Annotated[float, Meta(gt=0.0)] | None = None
    """The answer ends after so many seconds, with what it has and reason `timeout`."""
    cache_salt: Annotated[str, Meta(max_length=256)] | None = None
    user: str | None = None
    """Accepted because OpenAI's clients send it; it changes nothing here."""


class TextPart(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    type: Literal["text"] = "text"


class Message(msgspec.Struct, forbid_unknown_fields=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[TextPart]
    name: str | None = None

    def for_template(self) -> dict[str, Any]:
        """The shape that chat templates expect: text in one piece."""
        parts = self.content
        text = parts if isinstance(parts, str) else "".join(part.text for part in parts)
        role = "system" if self.role == "developer" else self.role
        shaped = {"role": role, "content": text}
        return shaped if self.name is None else {**shaped, "name": self.name}


class ChatRequest(GenerationFields, kw_only=True, forbid_unknown_fields=True):
    messages: Annotated[list[Message], Meta(min_length=1)]
    max_completion_tokens: PositiveNumber | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=MAX_LOGPROBS)] | None = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool = False
    chat_template_kwargs: dict[str, Any] | None = None


class CompletionRequest(GenerationFields, kw_only=True, forbid_unknown_fields=True):
    prompt: Prompts
    logprobs: Annotated[int, Meta(ge=0, le=MAX_LOGPROBS)] | None = None
    best_of: Annotated[int, Meta(ge=1, le=16)] | None = None
    """Generate so many, answer the `n` whose tokens are likeliest on average."""
    echo: bool = False
    add_special_tokens: bool = True


class EmbeddingRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    model: str | None = None
    input: Prompts
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: PositiveNumber | None = None
    priority: Priority = 0
    user: str | None = None
    """Accepted because OpenAI's clients send it; it changes nothing here."""


class TokenizeRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Either `prompt` or `messages`."""

    model: str | None = None
    prompt: str | None = None
    messages: list[Message] | None = None
    add_special_tokens: bool = True
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    return_token_strs: bool = False


class DetokenizeRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    model: str | None = None
    tokens: list[TokenId]
