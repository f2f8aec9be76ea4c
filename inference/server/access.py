"""Who may ask this engine: whoever shows its key. Probes alone are open, and say nothing else."""

from __future__ import annotations

import hashlib
import hmac

from starlette.types import ASGIApp, Receive, Scope, Send

from inference.server.http import json_response

_OPEN = frozenset({"/health", "/ready"})


class RequireKey:
    """Answers 401 to every request without `Authorization: Bearer KEY`, but for the probes.

    Args:
        key: "" where the engine was started with `--no-api-key`: then it asks nobody.
    """

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._digest = _digest(key.encode()) if key else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._may(scope):
            await self._app(scope, receive, send)
            return
        error = {
            "message": "this engine asks for its key, as 'Authorization: Bearer KEY'",
            "type": "authentication_error",
            "code": "invalid_api_key",
            "param": None,
        }
        await json_response({"error": error}, 401)(scope, receive, send)

    def _may(self, scope: Scope) -> bool:
        if self._digest is None or scope["path"] in _OPEN:
            return True
        shown = dict(scope["headers"]).get(b"authorization", b"")
        kind, _, key = shown.partition(b" ")
        # Digests are of one length, so that the time of the comparison tells nothing.
        matches = hmac.compare_digest(_digest(key.strip()), self._digest)
        return kind.lower() == b"bearer" and matches


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
