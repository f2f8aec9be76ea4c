"""The token for a request to a tool server, refreshed where it has run out.

An authorization server that rotates refresh tokens takes one that comes twice for stolen, and ends
the whole sign-in. So one process refreshes at a time, under a lock, and reads again what is stored
once it holds it; and a refresh that has begun is finished and stored, whoever stops waiting for it.
"""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from uuid import UUID

import httpx2
import structlog
from django.utils import timezone

from backend.platform.database import in_database
from backend.platform.lock import RenewedLock
from backend.tools.oauth.connections import Tokens, tokens_expire, tokens_get, tokens_replace
from backend.tools.oauth.discovery import TIMEOUT_S, oauth_client
from backend.tools.oauth.errors import SignInFailed, SignInRefused
from backend.tools.oauth.exchange import token_refresh, token_revoke
from backend.tools.types import ToolFailed

SIGN_IN_AGAIN = "Not connected any more: sign in at this tool server again."
_EARLY = timedelta(seconds=30)
_LOOK_S = 0.1
_WAIT_TIMEOUT_S = TIMEOUT_S + 5
_UNKNOWN_CLIENT = ("invalid_client", "unauthorized_client")

log = structlog.get_logger(__name__)
_refreshing: set[asyncio.Task[str | None]] = set()


class ConnectionAuth(httpx2.Auth):
    """Sends the token of one connection, to its server alone; once more where it was refused.

    Attributes:
        failure: why there is no token; the caller's own error, where the transport swallows it.
    """

    def __init__(self, connection_id: UUID, url: str) -> None:
        self.failure: ToolFailed | None = None
        self._connection_id = connection_id
        self._origin = _origin(httpx2.URL(url))

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if _origin(request.url) != self._origin:
            raise self._failed(ToolFailed("The tool server leads to another address."))
        token = await self._token()
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code != httpx2.codes.UNAUTHORIZED:
            return
        token = await self._token(refused=token)
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            await _refused(self._connection_id, token)
            raise self._failed(_sign_in_again())

    async def _token(self, refused: str = "") -> str:
        try:
            return await access_token(self._connection_id, refused=refused)
        except ToolFailed as error:
            raise self._failed(error) from error

    def _failed(self, error: ToolFailed) -> ToolFailed:
        self.failure = error
        return error


async def access_token(connection_id: UUID, *, refused: str = "") -> str:
    """One that is worth something, as far as is known. What refreshing has just given is taken as
    it is, however soon it runs out.

    Args:
        refused: the server did not take this one, whatever its date says.
    Raises:
        ToolFailed: nobody is connected, or the authorization server gives no new one.
    """
    deadline = asyncio.get_running_loop().time() + _WAIT_TIMEOUT_S
    while True:
        tokens = await in_database(tokens_get, connection_id)
        if tokens is None:
            raise _sign_in_again()
        if not _is_due(tokens, refused):
            return tokens.access
        lock = RenewedLock(f"tools:refresh:{connection_id}", ttl_s=2 * TIMEOUT_S)
        if await lock.take():
            renewed = await _in_own_task(connection_id, refused, lock)
            if renewed is None:
                raise _sign_in_again()
            return renewed
        if asyncio.get_running_loop().time() > deadline:
            raise ToolFailed(
                "The tool server's sign-in could not be renewed in time.",
                code="tool_sign_in_failed",
            )
        await asyncio.sleep(_LOOK_S)


def _sign_in_again() -> ToolFailed:
    return ToolFailed(SIGN_IN_AGAIN, code="tool_sign_in_needed")


async def tokens_revoke(tokens: Tokens) -> None:
    """Best effort: who disconnects is disconnected, whether or not the other side hears of it."""
    try:
        async with oauth_client() as http:
            await token_revoke(http, tokens.client, tokens.refresh or tokens.access)
    except SignInFailed as error:
        log.info("tool_tokens_not_revoked", error=str(error))


async def _in_own_task(connection_id: UUID, refused: str, lock: RenewedLock) -> str | None:
    """See `_refresh`; it ends also where the call that needs it is stopped meanwhile."""

    async def alone() -> str | None:
        try:
            return await _refresh(connection_id, refused)
        finally:
            await lock.give_back()

    task = asyncio.create_task(alone())
    _refreshing.add(task)  # the loop itself would let it be collected
    task.add_done_callback(_refreshing.discard)
    return await asyncio.shield(task)


async def _refresh(connection_id: UUID, refused: str) -> str | None:
    """The token to be used now; None where the sign-in has ended. Raises ToolFailed."""
    tokens = await in_database(tokens_get, connection_id)
    if tokens is None:
        return None
    if not _is_due(tokens, refused):
        return tokens.access  # another process was quicker
    if not tokens.refresh:
        await in_database(tokens_expire, tokens, error="The sign-in has expired.")
        return None
    try:
        async with oauth_client() as http:
            granted = await token_refresh(http, tokens.client, tokens.refresh)
    except SignInRefused as error:
        is_unknown = error.error in _UNKNOWN_CLIENT
        await in_database(tokens_expire, tokens, error=error.message, client_is_unknown=is_unknown)
        return None
    except SignInFailed as error:
        raise ToolFailed(error.message, code="tool_sign_in_failed") from error
    return granted.access if await in_database(tokens_replace, tokens, granted) else None


async def _refused(connection_id: UUID, token: str) -> None:
    """The server does not take what its authorization server has just given."""
    tokens = await in_database(tokens_get, connection_id)
    if tokens is not None and tokens.access == token:
        error = "The tool server does not accept the sign-in."
        await in_database(tokens_expire, tokens, error=error)


def _is_due(tokens: Tokens, refused: str) -> bool:
    if refused and tokens.access == refused:
        return True
    return tokens.expires_at is not None and tokens.expires_at < timezone.now() + _EARLY


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
