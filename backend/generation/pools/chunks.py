"""What one chunk of an upstream's stream says, typed. Names are OpenAI's and vLLM's."""

from typing import Annotated, Any

import msgspec

from backend.generation.completion import finish_reason_of
from backend.generation.tools import begun_call, without_marks
from backend.generation.usage import PredictedTokens, Usage

# What the ledger can hold: a count beyond it is the upstream's mistake.
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class CachedDetails(msgspec.Struct, frozen=True):
    image_tokens: _Count | None = None


class PromptDetails(msgspec.Struct, frozen=True):
    """Cached tokens and those of images may be the same; how many are, our engine says."""

    cached_tokens: _Count | None = None
    image_tokens: _Count | None = None
    cached_tokens_details: CachedDetails | None = None

    @property
    def uncached_image_tokens(self) -> int:
        cached = self.cached_tokens_details or CachedDetails()
        return max((self.image_tokens or 0) - (cached.image_tokens or 0), 0)


class OutputDetails(msgspec.Struct, frozen=True):
    reasoning_tokens: _Count | None = None
    accepted_prediction_tokens: _Count | None = None
    rejected_prediction_tokens: _Count | None = None


_NULL = msgspec.Raw(b"null")


class ReportedUsage(msgspec.Struct, frozen=True):
    """OpenAI's usage object, as far as it is read: the one place where an upstream's names of
    token kinds become ours."""

    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: OutputDetails | None = None

    def counted(self) -> Usage:
        cached, images = 0, 0
        if (details := self.prompt_tokens_details) is not None:
            cached = details.cached_tokens or 0
            images = details.uncached_image_tokens if details.image_tokens else 0
        return Usage(
            input_tokens=self.prompt_tokens,
            cached_input_tokens=cached,
            output_tokens=self.completion_tokens,
            reasoning_tokens=self.reasoning_tokens,
            image_tokens=images,
        )

    @property
    def reasoning_tokens(self) -> int:
        details = self.completion_tokens_details
        return 0 if details is None else details.reasoning_tokens or 0

    @property
    def predicted(self) -> PredictedTokens | None:
        """None where it does not tell."""
        details = self.completion_tokens_details
        if details is None:
            return None
        return PredictedTokens(
            details.accepted_prediction_tokens or 0, details.rejected_prediction_tokens or 0
        )


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(msgspec.Struct):
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None  # vLLM's newer name
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    index: int = 0
    delta: _Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    finish_details: Any = None
    logprobs: msgspec.Raw = _NULL  # in a union with None, Raw takes only null


class _ChunkBody(msgspec.Struct):
    choices: list[_Choice] = []
    usage: ReportedUsage | None = None
    error: Any = None


class UpstreamChunk(msgspec.Struct):
    """What a chunk adds to one choice.

    Attributes:
        text: with calls as part of it, see backend/generation/tools.py.
        is_call: the text is of a call.
        thought: what the model thinks; before the text.
        usage, predicted: of this upstream request so far, where the chunk tells.
        logprobs: JSON, as the upstream wrote it.
    """

    text: str
    finish_reason: str | None
    logprobs: bytes | None
    usage: Usage | None = None
    is_call: bool = False
    thought: str = ""
    predicted: PredictedTokens | None = None


class UpstreamErrorEvent(Exception):
    """The upstream said in its stream that it cannot go on."""


_DECODER = msgspec.json.Decoder(_ChunkBody)


def decode_chunk(data: bytes) -> UpstreamChunk:
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
    text, finish_reason, logprobs, is_call, thought = "", None, None, False, ""
    if chunk.choices:
        choice = chunk.choices[0]
        delta = choice.delta
        if delta is None:
            text = choice.text or ""
        else:
            text, thought = delta.content or "", delta.reasoning_content or delta.reasoning or ""
        # Asked here, and not by `without_marks` alone: it is nearly always so.
        text = text if text.isascii() else without_marks(text)
        thought = thought if thought.isascii() else without_marks(thought)
        if delta is not None and delta.tool_calls:
            is_call = True
            text += _text_of_calls(delta.tool_calls)
        finish_reason = choice.finish_reason
        if choice.finish_details is not None:
            finish_reason = finish_reason_of(msgspec.structs.asdict(choice))
        if choice.logprobs is not _NULL and bytes(choice.logprobs) != b"null":
            logprobs = bytes(choice.logprobs)
    reported = chunk.usage
    if reported is None:
        return UpstreamChunk(text, finish_reason, logprobs, None, is_call, thought)
    usage, predicted = reported.counted(), reported.predicted
    return UpstreamChunk(text, finish_reason, logprobs, usage, is_call, thought, predicted)


def _text_of_calls(calls: list[_Call]) -> str:
    text = ""
    for call in calls:
        if call.function is not None and call.function.name:
            text += begun_call(call.function.name)
        if call.function is not None and call.function.arguments:
            text += without_marks(call.function.arguments)
    return text


def _message_of(error: Any) -> str:
    if isinstance(error, dict):
        return str(error.get("message", error))
    return str(error)
