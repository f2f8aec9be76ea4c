"""The HTTP client for everything that leaves, but requests to engines (backend/generation/pools).

To URLs that a customer chose (`guarded_client`) every request, redirects too, goes to an address
that outbound.py has checked. To those that the operator configured (`bounded_post`) it goes
wherever they say. Each has a deadline, and an answer a bound that no compression passes by.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import httpx2

from backend.platform import outbound
from backend.platform.errors import InvalidRequest

GuardedClient = httpx2.AsyncClient
"""Client that `guarded_client` makes."""

MAX_BYTES = 2_000_000
CONNECT_S = 10.0

# A name whose servers do not answer holds its thread beyond the deadline, until the resolver
# gives up; threads of our own, so that nothing else waits for these.
_RESOLVERS = ThreadPoolExecutor(64, thread_name_prefix="outbound-names")


_COMPRESSED = "the answer is compressed, which was not asked for"


class AnswerRefused(httpx2.TransportError):
    """The address is not allowed, or the answer is too long or compressed."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise AnswerRefused("the answer is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _BoundedSync(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise AnswerRefused("the answer is too long")
            yield chunk

    def close(self) -> None:
        self._stream.close()


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Resolves, checks and connects to what was checked. Compressed answers are refused: how long
    they are is known only when they are unpacked."""

    def __init__(
        self,
        *,
        to_private: bool,
        what: str,
        max_bytes: int = MAX_BYTES,
        private_hosts: Collection[str] = (),
        reads_body: bool = True,
        switch: str = "",
    ) -> None:
        """
        Args:
            to_private, switch: see `outbound.check_url`.
            what: begins the message of a refusal.
            private_hosts: names (not addresses that they have) for which `to_private` holds.
            reads_body: False: the caller looks at the status alone, however the body is written.
        """
        self._to_private = to_private
        self._private_hosts = frozenset(private_hosts)
        self._what = what
        self._switch = switch
        self._max_bytes = max_bytes
        self._reads_body = reads_body
        # By name: a connection to an address that two names share was made for one of them.
        self._inner: dict[str, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        target = await self._resolve(request)
        headers = httpx2.Headers(request.headers)
        headers["Host"] = target.host
        headers["Accept-Encoding"] = "identity"
        checked = httpx2.Request(
            request.method,
            target.url,
            headers=headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": target.name},
        )
        inner = self._inner.get(target.name)
        if inner is None:
            inner = httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)
            self._inner[target.name] = inner
        response = await inner.handle_async_request(checked)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        if self._reads_body and _is_compressed(response):
            await response.stream.aclose()
            raise AnswerRefused(_COMPRESSED)
        response.stream = _Bounded(response.stream, self._max_bytes)
        return response

    async def _resolve(self, request: httpx2.Request) -> outbound.Target:
        to_private = self._to_private or request.url.host in self._private_hosts
        resolve = partial(
            outbound.resolve,
            str(request.url),
            to_private=to_private,
            what=self._what,
            switch=self._switch,
        )
        try:
            return await asyncio.get_running_loop().run_in_executor(_RESOLVERS, resolve)
        except InvalidRequest as error:
            raise AnswerRefused(str(error)) from error
        except OSError as error:
            raise httpx2.ConnectError(f"the name cannot be resolved: {error}") from error

    async def aclose(self) -> None:
        for inner in self._inner.values():
            await inner.aclose()


class _BoundedTransport(httpx2.BaseTransport):
    """Reaches any address; otherwise as GuardedTransport."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._inner = httpx2.HTTPTransport(verify=_tls(), trust_env=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = self._inner.handle_request(request)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        if _is_compressed(response):
            response.stream.close()
            raise AnswerRefused(_COMPRESSED)
        response.stream = _BoundedSync(response.stream, self._max_bytes)
        return response

    def close(self) -> None:
        self._inner.close()


def _is_compressed(response: httpx2.Response) -> bool:
    return str(response.headers.get("content-encoding", "identity")) != "identity"


@cache
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)  # reads all roots: some 35 ms


def guarded_client(
    *,
    to_private: bool,
    what: str,
    timeout_s: float,
    headers: dict[str, str] | None = None,
    auth: httpx2.Auth | None = None,
    on_response: Callable[[httpx2.Response], Awaitable[None]] | None = None,
    private_hosts: Collection[str] = (),
    max_bytes: int = MAX_BYTES,
    reads_body: bool = True,
    switch: str = "",
) -> httpx2.AsyncClient:
    """Follows no redirect by itself. Arguments: see GuardedTransport and httpx2."""
    return httpx2.AsyncClient(
        transport=GuardedTransport(
            to_private=to_private,
            what=what,
            private_hosts=private_hosts,
            max_bytes=max_bytes,
            reads_body=reads_body,
            switch=switch,
        ),
        headers=headers,
        auth=auth,
        event_hooks={} if on_response is None else {"response": [on_response]},
        timeout=httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
        follow_redirects=False,
        trust_env=False,
    )


def bounded_post(url: str, *, timeout_s: float, **options: Any) -> httpx2.Response:
    """POST to an address that the operator configured. Follows no redirect.

    Args:
        timeout_s: for the connection, and for each wait of the answer.
        options: see httpx2.
    """
    with httpx2.Client(
        transport=_BoundedTransport(MAX_BYTES), timeout=timeout_s, trust_env=False
    ) as client:
        return client.post(url, **options)
