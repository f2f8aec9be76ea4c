"""Django's ASGI handler, with a shorter way for requests for generations and for static files.

For each request Django sends two signals, and closes the response, in a thread that it starts for
the purpose: so that connections which the request opened there go back. A request for a
generation with a key opens none (backend/platform/database.py), and a file needs none, so neither
needs a thread. The rest is as in `ASGIHandler.handle`.

Under `/v1` only keys are taken, so such a request passes the layers that every answer needs
(`GENERATION_LAYERS`) and none of those around sessions, forms and files. docs/decisions/0292 has
what that saves.

Django looks for a path's route among all of them, one after the other, and keeps a list of those
that it has tried: here what was found for a path is kept.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from functools import lru_cache
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, get_resolver, set_script_prefix
from django.utils.log import log_response

from backend.api.asgi import pending_request_of
from backend.api.middleware import RequestContextMiddleware, SecurityHeadersMiddleware
from backend.api.response_headers import pairs_of
from backend.api.sse import EventStreamResponse
from backend.platform.cancellation import first_done

_Receive = Callable[[], Awaitable[Mapping[str, Any]]]
_Send = Callable[[Mapping[str, Any]], Awaitable[None]]

GENERATION_LAYERS = (RequestContextMiddleware, SecurityHeadersMiddleware)
"""What a request for a generation under `/v1` passes of `settings.MIDDLEWARE`, in that order."""

_KEYS_ONLY = "/v1/"
_KEPT_ROUTES = 1024
# What is longer comes from no page and no client of ours.
_KEPT_PATH = 200
_requests = logging.getLogger("django.request")


class Handler(ASGIHandler):
    """The web process' Django."""

    def __init__(self) -> None:
        super().__init__()
        chain: Any = convert_exception_to_response(cast(Any, _view))
        for layer in reversed(GENERATION_LAYERS):
            chain = convert_exception_to_response(layer(chain))
        self._generation_chain = chain

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        request.resolver_match = route_for(request.path_info)
        return request.resolver_match

    async def handle(self, scope: dict[str, Any], receive: _Receive, send: _Send) -> None:
        is_file = scope["path"].startswith(settings.STATIC_URL)
        if pending_request_of(scope) is None and not is_file:
            await super().handle(scope, receive, send)
        else:
            await self._handle_without_thread(scope, receive, send)

    async def _handle_without_thread(
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
            await first_done(leaving, answering)
        finally:
            await _end(leaving, answering)
            body_file.close()
            if not answering.cancelled() and answering.exception() is None:
                answering.result().close()
        if not answering.cancelled() and (error := answering.exception()) is not None:
            raise error

    async def _answer(self, request: ASGIRequest, send: _Send) -> HttpResponseBase:
        if request.path_info.startswith(_KEYS_ONLY):
            response = await self._pass_generation_layers(request)
        else:
            response = await self.run_get_response(request)
        with suppress(asyncio.CancelledError):  # the client left; the response is closed as ever
            if isinstance(response, EventStreamResponse):
                await _send_stream(response, send)
            else:
                await self.send_response(response, send)
        return response

    async def _pass_generation_layers(self, request: ASGIRequest) -> HttpResponseBase:
        """As `get_response_async`, which writes the log in a thread made for it."""
        response: HttpResponseBase = await self._generation_chain(request)
        response._resource_closers.append(request.close)  # type: ignore[attr-defined]
        if response.status_code >= 400:
            log_response(
                "%s: %s",
                response.reason_phrase,
                request.path,
                response=cast(Any, response),
                request=request,
                logger=_requests,
            )
        return response


async def _send_stream(response: EventStreamResponse, send: _Send) -> None:
    """As `send_response`, which ends each answer by a write of its own."""
    headers = [(name.encode("ascii"), value.encode("latin1")) for name, value in pairs_of(response)]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    async with aclosing(cast(AsyncGenerator[bytes], aiter(response))) as parts:
        async for part in parts:
            more = not response.has_ended
            await send({"type": "http.response.body", "body": part, "more_body": more})
    if not response.has_ended:
        await send({"type": "http.response.body"})


async def _end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel what is not done yet; return when all are."""
    for task in tasks:
        task.cancel()
    for task in tasks:
        if not task.done():
            await first_done(task)
        if not task.cancelled():
            task.exception()  # seen: nobody else may ask


async def _view(request: ASGIRequest) -> HttpResponseBase:
    match = route_for(request.path_info)
    request.resolver_match = match
    response: HttpResponseBase = await match.func(request, *match.args, **match.kwargs)
    return response


def route_for(path: str) -> ResolverMatch:
    """Every path has one: what no other route answers is the page's."""
    return _kept_route(path) if len(path) <= _KEPT_PATH else get_resolver().resolve(path)


@lru_cache(_KEPT_ROUTES)
def _kept_route(path: str) -> ResolverMatch:
    """Without the routes tried before it, hundreds, which Django's own page of errors names."""
    match = get_resolver().resolve(path)
    match.tried = None
    return match
