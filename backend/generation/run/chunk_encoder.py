"""OpenAI's chunk objects as bytes: `chat.completion.chunk`, or a streamed `text_completion`.

What is the same in every chunk of a generation is written once; a chunk is then a few joins.
Source: OpenAI API reference, "Chat completions: streaming" and "Completions (legacy)".
"""

from typing import Any

import orjson

from backend.generation.completion import finish_fields
from backend.generation.request import Endpoint
from backend.generation.tools import ArgumentsDelta, Call, CallBegin, call_as_openai, call_id
from backend.generation.usage import PredictedTokens, Usage, usage_as_openai
from backend.platform.errors import ParleyError

_UNFINISHED = b'"finish_reason":null'


class ChunkEncoder:
    """Writes the chunks of one generation."""

    def __init__(
        self, *, public_id: str, created: int, model: str, endpoint: Endpoint, stream_usage: bool
    ) -> None:
        self._public_id = public_id
        self._chat = endpoint == "chat"
        head = orjson.dumps(
            {
                "id": public_id,
                "object": "chat.completion.chunk" if self._chat else "text_completion",
                "created": created,
                "model": model,
            }
        )
        self._head = head[:-1] + b',"choices":['
        # With stream_options.include_usage every chunk has the field, null but in the last.
        self._tail = b'],"usage":null}' if stream_usage else b"]}"

    def begin(self, index: int, parley: dict[str, Any] | None = None, echo: str = "") -> bytes:
        """The first chunk of a choice: its role, no text of the answer. `parley`, `echo`: see
        GenerationRequest."""
        body = b'"delta":{"role":"assistant","content":""}'
        if not self._chat:
            body = b'"text":' + orjson.dumps(echo)
        chunk = self._chunk(index, body, b"null", _UNFINISHED)
        if parley is None:
            return chunk
        return chunk[:-1] + b',"parley":' + orjson.dumps(parley) + b"}"

    def text(self, index: int, text: str, logprobs: bytes | None) -> bytes:
        encoded = orjson.dumps(text)
        body = b'"delta":{"content":' + encoded + b"}" if self._chat else b'"text":' + encoded
        return self._chunk(index, body, logprobs or b"null", _UNFINISHED)

    def thought(self, index: int, text: str) -> bytes:
        """What the model thinks, under the name that DeepSeek and vLLM gave it."""
        body = b'"delta":{"reasoning_content":' + orjson.dumps(text) + b"}"
        return self._chunk(index, body, b"null", _UNFINISHED)

    def call(self, index: int, delta: CallBegin) -> bytes:
        """A call begins: its number, id and name, as OpenAI streams it."""
        call = call_as_openai(Call(delta.name, ""), call_id(self._public_id, index, delta.index))
        return self._calls(index, {"index": delta.index, **call})

    def arguments(self, index: int, delta: ArgumentsDelta) -> bytes:
        return self._calls(index, {"index": delta.index, "function": {"arguments": delta.text}})

    def finish(self, index: int, reason: str) -> bytes:
        body = b'"delta":{}' if self._chat else b'"text":""'
        # The object without its braces: `finish_reason`, and what else there is to say.
        return self._chunk(index, body, b"null", orjson.dumps(finish_fields(reason))[1:-1])

    def usage(self, usage: Usage, predicted: PredictedTokens | None = None) -> bytes:
        tail = b'],"usage":' + orjson.dumps(usage_as_openai(usage, predicted)) + b"}"
        return self._head + tail

    def _calls(self, index: int, call: dict[str, Any]) -> bytes:
        body = b'"delta":{"tool_calls":[' + orjson.dumps(call) + b"]}"
        return self._chunk(index, body, b"null", _UNFINISHED)

    @staticmethod
    def error(error: ParleyError) -> bytes:
        return orjson.dumps(error.as_dict())

    def _chunk(self, index: int, body: bytes, logprobs: bytes, finish: bytes) -> bytes:
        return b"".join(
            (
                self._head,
                b'{"index":',
                str(index).encode(),
                b",",
                body,
                b',"logprobs":',
                logprobs,
                b",",
                finish,
                b"}",
                self._tail,
            )
        )
