"""Requests to an identity provider: its address is checked, the answer is small and comes soon."""

import asyncio
import ssl
from functools import cache
from typing import Any

import httpx
import orjson
from django.conf import settings

from backend.enterprise.errors import provider_failed
from backend.platform import outbound
from backend.platform.errors import InvalidRequest

DEADLINE_S = 10.0
MAX_BYTES = 1_000_000
_WHAT = "An identity provider's URL"


def url_check(url: str, *, param: str) -> None:
    """InvalidRequest unless it could be called."""
    outbound.check_url(url, to_private=settings.SSO_TO_PRIVATE, what=_WHAT, param=param)


async def get_json(url: str, *, bearer: str | None = None) -> dict[str, Any]:
    """Raises UpstreamFailed."""
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    return await _call("GET", url, headers=headers)


async def post_form(url: str, form: dict[str, str]) -> dict[str, Any]:
    """Raises UpstreamFailed."""
    return await _call("POST", url, data=form)


async def _call(method: str, url: str, **options: Any) -> dict[str, Any]:
    try:
        async with asyncio.timeout(DEADLINE_S):
            status, body = await _answer(method, url, options)
    except (httpx.HTTPError, OSError, TimeoutError, InvalidRequest) as error:
        raise provider_failed(f"it did not answer: {error or type(error).__name__}") from error
    if status != 200:
        raise provider_failed(f"it answered {status}")
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise provider_failed("its answer is not JSON") from error
    if not isinstance(found, dict):
        raise provider_failed("its answer is not a JSON object")
    return found


async def _answer(method: str, url: str, options: dict[str, Any]) -> tuple[int, bytes]:
    target = await asyncio.to_thread(
        outbound.resolve, url, to_private=settings.SSO_TO_PRIVATE, what=_WHAT
    )
    headers = {"Host": target.host, "Accept": "application/json", **options.pop("headers", {})}
    async with (
        httpx.AsyncClient(timeout=DEADLINE_S, verify=_tls(), trust_env=False) as client,
        client.stream(
            method,
            target.url,
            headers=headers,
            follow_redirects=False,
            extensions={"sni_hostname": target.name},
            **options,
        ) as response,
    ):
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_BYTES:
                raise httpx.HTTPError("the answer is larger than 1 MB")
        return response.status_code, body


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)  # reads all roots: some 30 ms
