"""Requests to replicas: a generation's stream, a probe, tokens of a text. One for the process."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import orjson

from backend.generation.pools.chunks import UpstreamChunk, UpstreamErrorEvent, decode_chunk
from backend.generation.pools.config import ReplicaConfig
from backend.generation.pools.errors import ReplicaUnavailable, RequestRefused
from backend.generation.pools.http import Origin, Response
from backend.generation.pools.pace import FRAME_S, Pace
from backend.platform.errors import ContextLengthExceeded, InvalidRequest, ParleyError
from backend.platform.sse import EventDecoder

# An engine that has begun to answer sends something every step; a minute of silence is a hang.
SILENCE_S = 60.0
# Until then a prompt may be read, which takes the longer the longer it is. Ours sends comments
# meanwhile; others do not. A frozen one is known within seconds by its probes (health.py).
_READ_BYTES_A_S = 40.0
_MAX_READING_S = 900.0
_SMALL_REQUEST_S = 5.0
# Before it, a recording is decoded and its model loaded.
_FIRST_EVENT_S = 120.0
_PROBE_S = 1.2
# Of a probe whose time was up this much later than asked for, this process was the one held up.
_OWN_LATENESS_S = 0.5
# So many parts of an answer do not wait for the pace: a reader watches for them.
READS_AT_ONCE = 4
# Statuses that say "not this replica, not now". 401, 403 and 404 mean that our configuration
# of it is wrong, which the client cannot correct.
_REFUSED = frozenset({400, 413, 422})
_BUSY = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Readiness:
    """What a probe found. `detail` is for people. `answered` False: nothing came back in time."""

    ready: bool
    detail: str
    answered: bool = True


class UpstreamStream:
    """One running upstream request."""

    def __init__(self, response: Response, pace: Pace, silence_s: float) -> None:
        self._response = response
        self._silence_s: float | None = silence_s
        self._pace: Pace | None = pace
        self._at_once = READS_AT_ONCE
        self._events = EventDecoder()
        self._ended = False
        # Raised when the chunks that came before it have been taken.
        self._failure: ReplicaUnavailable | None = None

    async def chunks(self) -> list[UpstreamChunk]:
        """The chunks that have arrived, at least one; [] when the stream has ended.

        Several come at once when this process reads slower than the engine writes: the work
        per token then falls, which is what keeps a loaded process level.

        Raises:
            ReplicaUnavailable: it broke, fell silent, or said that it cannot go on.
        """
        chunks: list[UpstreamChunk] = []
        while not chunks and not self._ended and self._failure is None:
            received = await self._response.read_some()
            if not received:
                raise ReplicaUnavailable("the stream ended without [DONE]")
            for data in self._events.feed(received):
                if data == b"[DONE]":
                    self._ended = True
                    break
                try:
                    chunks.append(decode_chunk(data))
                except UpstreamErrorEvent as error:
                    self._failure = ReplicaUnavailable(str(error))
                    break
        if self._failure is not None and not chunks:
            raise self._failure
        if self._silence_s is not None and chunks:
            self._response.limit_silence(self._silence_s)
            self._silence_s = None
        self._at_once -= 1
        if self._at_once == 0 and self._pace is not None and not self._ended:
            self._response.set_pace(self._pace)
            self._pace = None
        return chunks

    async def close(self) -> None:
        """End it: to the engine an abort, unless the stream was complete."""
        if self._ended:
            # Only the end of the chunked body is left; reading it lets the connection live on.
            try:
                async with asyncio.timeout(1):
                    while await self._response.read_some():
                        pass
            except (TimeoutError, ReplicaUnavailable):
                pass
        self._response.abort()


class UpstreamClient:
    """Shared by all generations of the process; holds the connections to every replica."""

    def __init__(self, *, ca_file: str = "", silence_s: float = SILENCE_S) -> None:
        """`silence_s`: after so much of it an answer that has begun hangs."""
        self._ca_file = ca_file
        self._silence_s = silence_s
        self._origins: dict[str, Origin] = {}
        self._pace, self._local_pace = Pace(), Pace(FRAME_S)

    async def open(
        self,
        replica: ReplicaConfig,
        path: str,
        body: dict[str, Any],
        *,
        request_id: str,
        usage_key: str,
        traceparent: str = "",
    ) -> UpstreamStream:
        """Start a streamed request at `replica`.

        Args:
            usage_key: what its final count can be asked for by (`usage`), where it keeps one.
            traceparent: where its spans belong; "" for nowhere.
        Raises:
            ReplicaUnavailable: try another.
            RequestRefused: no replica would take this.
        """
        origin, data = self._origin(replica), orjson.dumps(body)
        response = await origin.request(
            "POST",
            path,
            headers={
                **_authorization(replica),
                "content-type": "application/json",
                "accept": "text/event-stream",
                "x-request-id": request_id,
                "x-usage-key": usage_key,
                **({"traceparent": traceparent} if traceparent else {}),
            },
            body=data,
        )
        if response.status == 200:
            response.limit_silence(self._silence_s + _reading_s(data))
            pace = self._local_pace if origin.is_local else self._pace
            return UpstreamStream(response, pace, self._silence_s)
        raise await _failure(replica, response)

    async def probe(self, replica: ReplicaConfig) -> Readiness | None:
        """Whether `replica` takes work: `/ready`, or for upstreams without it `/v1/models`.

        None where nothing can be said: this process was busier than the replica.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(_PROBE_S):
                for path in ("/ready", "/v1/models"):
                    response = await self._origin(replica).request(
                        "GET", path, headers=_authorization(replica)
                    )
                    body = await response.read()
                    if response.status != 404:
                        break
        except TimeoutError:
            if clock() - began > _PROBE_S + _OWN_LATENESS_S:
                return None
            return Readiness(False, f"no answer in {_PROBE_S:g} s", answered=False)
        except ReplicaUnavailable as error:
            return Readiness(False, str(error))
        if response.status == 200:
            return Readiness(True, "ready")
        return Readiness(False, f"{path} answered {response.status}: {body[:200]!r}")

    def silent_s(self, replica: ReplicaConfig) -> float:
        """For how long nothing at all has come from `replica`."""
        return asyncio.get_running_loop().time() - self._origin(replica).heard_at

    def hang_up(self, replica: ReplicaConfig) -> None:
        """Break every connection to `replica`: its generations fail over."""
        self._origin(replica).close()

    async def usage(self, replica: ReplicaConfig, key: str) -> bytes | None:
        """What the requests with this usage key have used, as JSON; None where it is not known.

        Raises:
            ReplicaUnavailable: it could not answer.
        """
        try:
            async with asyncio.timeout(_SMALL_REQUEST_S):
                response = await self._origin(replica).request(
                    "GET", f"/usage/{key}", headers=_authorization(replica)
                )
                answer = await response.read()
        except TimeoutError:
            raise ReplicaUnavailable("/usage did not answer") from None
        if response.status in {404, 405}:
            return None
        if response.status != 200:
            raise ReplicaUnavailable(f"/usage answered {response.status}")
        return answer

    async def tokenize(self, replica: ReplicaConfig, model: str, text: str) -> list[int]:
        """The token ids of `text` without special tokens. ReplicaUnavailable where it cannot."""
        body = {"model": model, "prompt": text, "add_special_tokens": False}
        response, answer = await self._ask(replica, "/tokenize", body)
        if response.status != 200:
            raise ReplicaUnavailable(f"/tokenize answered {response.status}")
        return [int(token) for token in orjson.loads(answer)["tokens"]]

    async def count_tokens(self, replica: ReplicaConfig, body: dict[str, Any]) -> int:
        """The tokens of a chat as its model reads it.

        Args:
            body: `model`, `messages`, and `tools` where it has any.
        Raises:
            RequestRefused: its template does not take them.
            ReplicaUnavailable: it could not answer.
        """
        response, answer = await self._ask(replica, "/tokenize", body)
        if response.status in _REFUSED:
            raise RequestRefused(_client_error(answer))
        if response.status != 200:
            raise ReplicaUnavailable(f"/tokenize answered {response.status}")
        return int(orjson.loads(answer)["count"])

    async def detokenize(self, replica: ReplicaConfig, model: str, tokens: list[int]) -> str | None:
        """The text of token ids; None where the upstream offers no such thing.

        Raises:
            RequestRefused: there is no such token.
            ReplicaUnavailable: it could not answer.
        """
        body = {"model": model, "tokens": tokens}
        response, answer = await self._ask(replica, "/detokenize", body)
        if response.status in {404, 405}:
            return None
        if response.status in _REFUSED:
            raise RequestRefused(_client_error(answer))
        if response.status != 200:
            raise ReplicaUnavailable(f"/detokenize answered {response.status}")
        return str(orjson.loads(answer)["prompt"])

    async def answer_whole(
        self, replica: ReplicaConfig, path: str, body: dict[str, Any], *, request_id: str
    ) -> dict[str, Any]:
        """What the replica gives at `path` (`/v1/embeddings`, `/v1/rerank`), in one piece.

        Raises:
            ReplicaUnavailable: try another.
            RequestRefused: no replica would take this.
        """
        response, answer = await self._ask(
            replica,
            path,
            body,
            timeout_s=None,
            headers={"x-request-id": request_id},
        )
        if response.status in _REFUSED:
            raise RequestRefused(_client_error(answer))
        if response.status != 200:
            raise ReplicaUnavailable(
                f"{replica.name} answered {response.status}: {answer[:200]!r}",
                busy=response.status in _BUSY,
            )
        whole: dict[str, Any] = orjson.loads(answer)
        return whole

    async def events(
        self,
        replica: ReplicaConfig,
        path: str,
        body: bytes,
        *,
        content_type: str,
        request_id: str,
    ) -> AsyncGenerator[dict[str, Any]]:
        """What the replica tells at `path`, event by event. Closing it ends the request there.

        Raises:
            ReplicaUnavailable: it could not begin, broke, fell silent, or said that it failed.
            RequestRefused: no replica would take this.
        """
        try:
            async with asyncio.timeout(_FIRST_EVENT_S):
                response = await self._origin(replica).request(
                    "POST",
                    path,
                    headers={
                        **_authorization(replica),
                        "content-type": content_type,
                        "x-request-id": request_id,
                    },
                    body=body,
                )
        except TimeoutError:
            raise ReplicaUnavailable(f"{path.partition('?')[0]} did not answer") from None
        if response.status != 200:
            raise await _failure(replica, response)
        response.limit_silence(SILENCE_S)
        decoder = EventDecoder()
        try:
            while received := await response.read_some():
                for data in decoder.feed(received):
                    if data == b"[DONE]":
                        return
                    event: dict[str, Any] = orjson.loads(data)
                    if "error" in event:
                        raise ReplicaUnavailable(str(event["error"]))
                    yield event
            raise ReplicaUnavailable("the stream ended without [DONE]")
        finally:
            response.abort()

    async def _ask(
        self,
        replica: ReplicaConfig,
        path: str,
        body: dict[str, Any],
        *,
        timeout_s: float | None = _SMALL_REQUEST_S,
        headers: dict[str, str] | None = None,
    ) -> tuple[Response, bytes]:
        """A request that is answered whole: the response and its body. None: it may take as long
        as its texts are read."""
        data = orjson.dumps(body)
        if timeout_s is None:
            timeout_s = self._silence_s + _reading_s(data)
        try:
            async with asyncio.timeout(timeout_s):
                response = await self._origin(replica).request(
                    "POST",
                    path,
                    headers={
                        **_authorization(replica),
                        "content-type": "application/json",
                        **(headers or {}),
                    },
                    body=data,
                )
                return response, await response.read()
        except TimeoutError:
            raise ReplicaUnavailable(f"{path} did not answer") from None

    def close(self) -> None:
        for origin in self._origins.values():
            origin.close()

    def _origin(self, replica: ReplicaConfig) -> Origin:
        if replica.url not in self._origins:
            self._origins[replica.url] = Origin(replica.url, ca_file=self._ca_file)
        return self._origins[replica.url]


def _reading_s(body: bytes) -> float:
    """Return how long the engine may read the prompt of `body`."""
    return min(_MAX_READING_S, len(body) / _READ_BYTES_A_S)


def _authorization(replica: ReplicaConfig) -> dict[str, str]:
    return {"authorization": f"Bearer {replica.api_key}"} if replica.api_key else {}


async def _failure(
    replica: ReplicaConfig, response: Response
) -> ReplicaUnavailable | RequestRefused:
    try:
        async with asyncio.timeout(_SMALL_REQUEST_S):
            body = await response.read()
    except (TimeoutError, ReplicaUnavailable):
        body = b""
    if response.status in _REFUSED:
        return RequestRefused(_client_error(body))
    return ReplicaUnavailable(
        f"{replica.name} answered {response.status}: {body[:200]!r}",
        busy=response.status in _BUSY,
    )


def _client_error(body: bytes) -> ParleyError:
    """The upstream's own words about the request; vLLM puts them at the top level."""
    try:
        answer = orjson.loads(body)
        error = answer.get("error", answer)
        message, param, code = str(error["message"]), error.get("param"), error.get("code")
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        message, param, code = "The model cannot serve this request.", None, None
    kind: type[ParleyError] = InvalidRequest
    if code == ContextLengthExceeded.code or "context length" in message.lower():
        kind = ContextLengthExceeded
    return kind(message, param=param if isinstance(param, str) else None)
