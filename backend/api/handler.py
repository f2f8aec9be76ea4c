"""Django's ASGI handler, with a shorter way for requests for generations.

For each request Django sends two signals, and closes the response, in a thread that it starts for
the purpose: so that connections which the request opened there go back. A request for a
generation with a key opens none (backend/platform/database.py), so it needs no thread. The rest is
as in `ASGIHandler.handle`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from backend.api.asgi import pending_request_of

_Receive = Callable[[], Awaitable[Mapping[str, Any]]]
_Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class Handler(ASGIHandler):
    """The web process' Django."""

    async def handle(self, scope: dict[str, Any], receive: _Receive, send: _Send) -> None:
        if pending_request_of(scope) is None:
            await super().handle(scope, receive, send)
        else:
            await self._handle_generation(scope, receive, send)

    async def _handle_generation(
        self, scope: dict[str, Any], receive: _Receive, send: _Send
    ) -> None:
        try:
            body_file = await self.read_body(receive)
        except RequestAborted:
            return
        set_script_prefix(get_script_prefix(scope))
        request, error_response = self.create_request(scope, body_file)
        if request is None:
            body_file.close()
            assert error_response is not None
            await self.send_response(error_response, send)
            error_response.close()
            return
        leaving = asyncio.create_task(self.listen_for_disconnect(receive))
        answering = asyncio.create_task(self._answer(request, send))
        try:
            await asyncio.wait({leaving, answering}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (leaving, answering):
                task.cancel()
            await asyncio.gather(leaving, answering, return_exceptions=True)
            body_file.close()
            if not answering.cancelled() and answering.exception() is None:
                answering.result().close()
        if not answering.cancelled() and (error := answering.exception()) is not None:
            raise error

    async def _answer(self, request: ASGIRequest, send: _Send) -> HttpResponseBase:
        response: HttpResponseBase = await self.run_get_response(request)
        with suppress(asyncio.CancelledError):  # the client left; the response is closed as ever
            await self.send_response(response, send)
        return response
