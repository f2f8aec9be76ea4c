"""A synthetic upstream: a real HTTP server that speaks the engine's contract, without a model.

It reads every body by the engine's own schema and refuses what the engine refuses.

Its answers are the words `w0 w1 w2 …`, one token each, so that a reader can tell which token is
missing or there twice. A continued answer goes on at the next word. It can be set to fail in
the ways that a real engine cannot be made to: see `Behaviour`.

    python -m infra.load.upstream --port 9000 --rate 30
"""

import argparse
import asyncio
import re
import time
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httptools
import msgspec
import orjson

from inference.errors import InvalidRequestError
from inference.server.http import decode_body, error_object
from inference.server.schemas import (
    ChatRequest,
    CompletionRequest,
    DetokenizeRequest,
    TokenizeRequest,
)

DEFAULT_TOKENS = 64
SCHEMAS: dict[str, type[msgspec.Struct]] = {
    "/v1/chat/completions": ChatRequest,
    "/v1/completions": CompletionRequest,
    "/tokenize": TokenizeRequest,
    "/detokenize": DetokenizeRequest,
}


def words(first: int, last: int) -> str:
    """The text of tokens `first` … `last - 1`."""
    return "".join(f"w{index} " for index in range(first, last))


# An answer as people get them. What the post-check holds back depends on the text, so that words
# nobody would write measure something else than the way of a token.
_ANSWER = re.findall(r"\s?[^\s]{1,8}|\s", (Path(__file__).parent / "answer.txt").read_text())
_TAG = re.compile(r"reader (\d+)")


def question(tag: int) -> str:
    """A prompt by which `/sent/<tag>` finds the answer's sending times again."""
    return f"Please explain to reader {tag} how a bicycle stays upright."


@dataclass(slots=True)
class Behaviour:
    """How the server answers; may be changed while it runs.

    Attributes:
        rate: tokens a second of each stream; 0 as fast as it goes.
        refuse: (HTTP status, body) for every generation.
        break_after: the connection is cut after so many tokens of a request.
        break_times: how many requests are broken; then it behaves. -1: all.
        error_after: like break_after, with an error event before the end.
        hang_after: it goes silent after so many tokens, until this is changed.
        freeze_after: as by SIGSTOP: from then on nothing at all is answered, `/ready` neither.
        ready: what `/ready` says.
        continuous_usage: token counts in each chunk, when asked for; else only at the end.
        usage: whether it counts at all.
        count_error: added to every count that it tells.
        thoughts: so many of an answer's first tokens are a thought.
        script: a text for every answer, cut in the given chunks, in place of the words.
        calls: (function, JSON) that an answer consists of, where the request offers a function
            whose name contains that, and its last message is no result of a tool.
        prose: the answer is that of `answer.txt`, over and over, cut as most tokenizers cut it (a
            word is complete only when the next one has come), and `/sent/<tag>` tells when each
            token of the answer to `question(tag)` was sent. For benchmarks.
        first_delay_s: before the first token.
        ping_s: until then a comment comes each so many seconds; 0: none does.
    """

    rate: float = 30.0
    refuse: tuple[int, dict[str, Any]] | None = None
    break_after: int | None = None
    break_times: int = -1
    error_after: int | None = None
    hang_after: int | None = None
    freeze_after: int | None = None
    ready: bool = True
    continuous_usage: bool = True
    usage: bool = True
    count_error: int = 0
    thoughts: int = 0
    script: list[str] | None = None
    calls: list[tuple[str, str]] = field(default_factory=list)
    prose: bool = False
    first_delay_s: float = 0.0
    ping_s: float = 0.0


@dataclass(slots=True)
class Served:
    """One generation that the server was asked for."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    sent: int = 0
    aborted: bool = False
    finished: bool = False


@dataclass
class SyntheticUpstream:
    """The server. `served` tells what it was asked for, oldest first."""

    behaviour: Behaviour = field(default_factory=Behaviour)
    served: list[Served] = field(default_factory=list)
    keep_served: bool = True
    frozen: bool = False
    sent: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By tag, for each token: the characters of the answer up to its end, monotonic ns."""

    async def start(self, port: int = 0) -> None:
        loop = asyncio.get_running_loop()
        self._connections: set[_Connection] = set()
        self._server = await loop.create_server(
            lambda: _Connection(self), "127.0.0.1", port, backlog=4096
        )
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def running(self) -> int:
        return sum(connection.busy for connection in self._connections)

    async def stop(self) -> None:
        """Like SIGKILL: nothing is listening any more, and every connection breaks."""
        self._server.close()
        for connection in list(self._connections):
            connection.cut()
        await self._server.wait_closed()


class _Connection(asyncio.Protocol):
    def __init__(self, upstream: SyntheticUpstream) -> None:
        self._upstream = upstream
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport
        self._path = ""
        self._headers: dict[str, str] = {}
        self._body = b""
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def cut(self) -> None:
        self._transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._upstream._connections.add(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._upstream._connections.discard(self)
        if self._task is not None:
            self._task.cancel()

    # httptools

    def on_message_begin(self) -> None:
        self._headers, self._body, self._path = {}, b"", ""

    def on_url(self, url: bytes) -> None:
        self._path += url.decode()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode().lower()] = value.decode()

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        behaviour = self._upstream.behaviour
        if self._upstream.frozen:
            return
        try:
            if schema := SCHEMAS.get(self._path):
                decode_body(self._body, schema)
        except InvalidRequestError as error:
            self._answer(error.status, error_object(error))
            return
        if self._path == "/ready":
            self._answer(200 if behaviour.ready else 503, {"ready": behaviour.ready})
        elif self._path == "/tokenize":
            count = len(orjson.loads(self._body)["prompt"].split())
            self._answer(200, {"tokens": list(range(count)), "count": count})
        elif self._path == "/detokenize":
            tokens = orjson.loads(self._body)["tokens"]
            self._answer(200, {"prompt": " ".join(f"w{token}" for token in tokens)})
        elif self._path in {"/v1/chat/completions", "/v1/completions"}:
            self._generate()
        elif self._path.startswith("/sent/"):
            self._answer(200, {"tokens": self._upstream.sent.pop(self._path[6:], [])})
        else:
            self._answer(404, {"error": {"message": "no such route"}})

    def _generate(self) -> None:
        body = orjson.loads(self._body)
        served = Served(self._path, self._headers, body)
        if self._upstream.keep_served:
            self._upstream.served.append(served)
        refusal = self._upstream.behaviour.refuse
        if refusal is not None:
            self._answer(*refusal)
            return
        self._task = asyncio.create_task(self._stream(served))

    async def _stream(self, served: Served) -> None:
        try:
            await self._send_all(served)
        except asyncio.CancelledError:
            served.aborted = True

    async def _send_all(self, served: Served) -> None:
        behaviour = self._upstream.behaviour
        self._transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        chat = served.path == "/v1/chat/completions"
        if calls := _calls(served.body, behaviour.calls):
            self._send_calls(served, calls)
            return
        so_far = _text_so_far(served.body, chat=chat)
        first = len(so_far.split())
        wanted = served.body.get("max_tokens") or _usual(behaviour, first)
        if behaviour.prose:
            chunks = list(islice(cycle(_ANSWER), wanted))
        else:
            chunks = behaviour.script or [f"w{first + index} " for index in range(wanted)]
        chunks = chunks[:wanted]
        sent = self._sent_times(served.body)
        length = 0
        prompt_tokens = _prompt_tokens(served.body, chat=chat)
        options = served.body.get("stream_options") or {}
        each = behaviour.continuous_usage and options.get("continuous_usage_stats")
        due = time.monotonic() + behaviour.first_delay_s
        while behaviour.ping_s and time.monotonic() < due:
            await asyncio.sleep(behaviour.ping_s)
            self._write_chunk(b": ping\n\n")
        for index, chunk in enumerate(chunks):
            # A test may change it while the answer comes.
            interval = 1 / behaviour.rate if behaviour.rate else 0.0
            if (delay := due - time.monotonic()) > 0 or interval == 0:
                await asyncio.sleep(max(0.0, delay))
            due += interval
            if self._fails(index):
                return
            if index == behaviour.freeze_after:
                self._upstream.frozen = True
            if self._upstream.frozen:
                await asyncio.sleep(3600)
            while index == behaviour.hang_after:  # noqa: ASYNC110 - the test changes it
                await asyncio.sleep(0.01)
            length += len(chunk)
            sent.append((length, time.monotonic_ns()))
            last = index == len(chunks) - 1
            usage = None
            if each and behaviour.usage:
                usage = _usage(prompt_tokens, index + 1, behaviour.count_error)
            reason = ("length" if len(chunks) == wanted else "stop") if last else None
            thinks = first + index < behaviour.thoughts
            self._event(_chunk(chunk, reason, usage, chat=chat, thinks=thinks))
            served.sent = index + 1
        if options.get("include_usage") and behaviour.usage:
            usage = _usage(prompt_tokens, len(chunks), behaviour.count_error)
            self._event({"choices": [], "usage": usage})
        served.finished = True
        self._write_chunk(b"data: [DONE]\n\n")
        self._transport.write(b"0\r\n\r\n")

    def _send_calls(self, served: Served, calls: list[dict[str, Any]]) -> None:
        choice = {"index": 0, "delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}
        usage = _usage(_prompt_tokens(served.body, chat=True), 8 * len(calls), 0)
        self._event({"choices": [choice], "usage": usage})
        self._event({"choices": [], "usage": usage})
        served.finished = True
        self._write_chunk(b"data: [DONE]\n\n")
        self._transport.write(b"0\r\n\r\n")

    def _sent_times(self, body: dict[str, Any]) -> list[tuple[int, int]]:
        """Where the sending times of an answer go; to nowhere when it has no tag."""
        tag = _TAG.search(str(body.get("messages"))) if self._upstream.behaviour.prose else None
        return self._upstream.sent.setdefault(tag.group(1), []) if tag else []

    def _fails(self, index: int) -> bool:
        behaviour = self._upstream.behaviour
        if behaviour.break_times == 0:
            return False
        if index == behaviour.error_after:
            self._event({"error": {"message": "the engine failed", "type": "server_error"}})
            self._transport.write(b"0\r\n\r\n")
        elif index == behaviour.break_after:
            self._transport.abort()
        else:
            return False
        behaviour.break_times -= 1
        return True

    def _event(self, chunk: dict[str, Any]) -> None:
        self._write_chunk(b"data: " + orjson.dumps(chunk) + b"\n\n")

    def _write_chunk(self, data: bytes) -> None:
        self._transport.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = orjson.dumps(body)
        head = f"HTTP/1.1 {status} .\r\ncontent-type: application/json\r\n"
        self._transport.write(f"{head}content-length: {len(data)}\r\n\r\n".encode() + data)


def _usual(behaviour: Behaviour, so_far: int) -> int:
    """How many tokens may come where the request names no number: a script to its end."""
    return len(behaviour.script) + 1 if behaviour.script else DEFAULT_TOKENS - so_far


def _calls(body: dict[str, Any], wanted: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Deltas of the wanted calls, by the names under which they are offered."""
    offered = [tool["function"]["name"] for tool in body.get("tools") or []]
    if not offered or body["messages"][-1]["role"] == "tool":
        return []
    named = [
        (name, arguments)
        for part, arguments in wanted
        for name in [next((one for one in offered if part in one), None)]
        if name is not None
    ]
    return [
        {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for index, (name, arguments) in enumerate(named)
    ]


def _text_so_far(body: dict[str, Any], *, chat: bool) -> str:
    """What a continued answer has already; a completion's prompt is told apart by its `w0`."""
    if chat:
        if body.get("continue_final_message"):
            last = body["messages"][-1]
            return f"{last.get('reasoning_content', '')}{last['content']}"
        return ""
    prompt = body["prompt"]
    if not isinstance(prompt, str) or "w0 " not in prompt:
        return ""
    return prompt[prompt.index("w0 ") :]


def _prompt_tokens(body: dict[str, Any], *, chat: bool) -> int:
    if not chat:
        prompt = body["prompt"]
        return len(prompt.split()) if isinstance(prompt, str) else len(prompt)
    return sum(len(str(message["content"]).split()) for message in body["messages"])


def _usage(prompt: int, completion: int, error: int) -> dict[str, Any]:
    prompt, completion = prompt + error, completion + error
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def _chunk(
    text: str,
    reason: str | None,
    usage: dict[str, Any] | None,
    *,
    chat: bool,
    thinks: bool = False,
) -> dict[str, Any]:
    name = "reasoning_content" if thinks else "content"
    said: dict[str, Any] = {"delta": {name: text}} if chat else {"text": text}
    chunk: dict[str, Any] = {"choices": [{"index": 0, **said, "finish_reason": reason}]}
    if usage is not None:
        chunk["usage"] = usage
    return chunk


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rate", type=float, default=30.0)
    parser.add_argument("--prose", action="store_true")
    arguments = parser.parse_args()
    behaviour = Behaviour(rate=arguments.rate, prose=arguments.prose)
    upstream = SyntheticUpstream(behaviour, keep_served=False)
    await upstream.start(arguments.port)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
