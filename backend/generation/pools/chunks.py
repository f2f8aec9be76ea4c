"""What one chunk of an upstream's stream says, typed. Names are OpenAI's and vLLM's."""

from typing import Annotated, Any

import msgspec

# What a usage record can hold: a count beyond it is the upstream's mistake.
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class _PromptDetails(msgspec.Struct):
    cached_tokens: _Count | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0
    prompt_tokens_details: _PromptDetails | None = None


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    index: int = 0
    delta: _Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    logprobs: msgspec.Raw = msgspec.Raw(b"null")  # in a union with None, Raw takes only null


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


class UpstreamChunk(msgspec.Struct):
    """What a chunk adds to one choice.

    Attributes:
        output_tokens: generated so far by this upstream request, where the chunk tells.
        input_tokens, cached_input_tokens: of the upstream request, where the chunk tells.
        logprobs: JSON, as the upstream wrote it.
    """

    text: str
    finish_reason: str | None
    logprobs: bytes | None
    output_tokens: int | None
    input_tokens: int | None
    cached_input_tokens: int | None


class UpstreamErrorEvent(Exception):
    """The upstream said in its stream that it cannot go on."""


_DECODER = msgspec.json.Decoder(_Chunk)


def decode_piece(data: bytes) -> UpstreamChunk:
    """The chunk in one event's data; a chunk without choices (usage only) has empty text.

    Raises:
        UpstreamErrorEvent: it holds an error, or is not a chunk.
    """
    try:
        chunk = _DECODER.decode(data)
    except msgspec.DecodeError as error:
        raise UpstreamErrorEvent(f"not a chunk: {error}") from error
    if chunk.error is not None:
        raise UpstreamErrorEvent(_message_of(chunk.error))
    text, finish_reason, logprobs = "", None, None
    if chunk.choices:
        choice = chunk.choices[0]
        text = (choice.delta.content if choice.delta else choice.text) or ""
        finish_reason = choice.finish_reason
        if bytes(choice.logprobs) != b"null":
            logprobs = bytes(choice.logprobs)
    usage = chunk.usage
    if usage is None:
        return UpstreamChunk(text, finish_reason, logprobs, None, None, None)
    details = usage.prompt_tokens_details
    return UpstreamChunk(
        text,
        finish_reason,
        logprobs,
        usage.completion_tokens,
        usage.prompt_tokens,
        details.cached_tokens if details else None,
    )


def _message_of(error: Any) -> str:
    if isinstance(error, dict):
        return str(error.get("message", error))
    return str(error)
