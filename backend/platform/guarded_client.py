"""An HTTP client for URLs that a customer chose: every request, redirects too, goes to an address
that outbound.py has checked, and an answer has a bound."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from functools import cache

import httpx2

from backend.platform import outbound
from backend.platform.errors import InvalidRequest

MAX_BYTES = 2_000_000
CONNECT_S = 10.0


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
    ) -> None:
        """
        Args:
            to_private: see `outbound.resolve`.
            what: begins the message of a refusal.
            private_hosts: names (not addresses that they have) for which `to_private` holds.
        """
        self._to_private = to_private
        self._private_hosts = frozenset(private_hosts)
        self._what = what
        self._max_bytes = max_bytes
        self._inner = httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        to_private = self._to_private or request.url.host in self._private_hosts
        try:
            target = await asyncio.to_thread(
                outbound.resolve, str(request.url), to_private=to_private, what=self._what
            )
        except InvalidRequest as error:
            raise AnswerRefused(str(error)) from error
        except OSError as error:
            raise httpx2.ConnectError(f"the name cannot be resolved: {error}") from error
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
        response = await self._inner.handle_async_request(checked)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.stream.aclose()
            raise AnswerRefused("the answer is compressed, which was not asked for")
        response.stream = _Bounded(response.stream, self._max_bytes)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


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
) -> httpx2.AsyncClient:
    """Follows no redirect by itself. Arguments: see GuardedTransport and httpx2."""
    return httpx2.AsyncClient(
        transport=GuardedTransport(
            to_private=to_private, what=what, private_hosts=private_hosts, max_bytes=max_bytes
        ),
        headers=headers,
        auth=auth,
        event_hooks={} if on_response is None else {"response": [on_response]},
        timeout=httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
        follow_redirects=False,
        trust_env=False,
    )
