"""Requests to an identity provider: its address is checked, the answer is small and comes soon."""

import asyncio
from typing import Any

import httpx2
import orjson
from django.conf import settings

from backend.enterprise.errors import provider_failed
from backend.platform import outbound
from backend.platform.guarded_client import guarded_client

DEADLINE_S = 10.0
MAX_BYTES = 1_000_000
_WHAT = "An identity provider's URL"
_TO_PRIVATE_SWITCH = "PARLEY_SSO_TO_PRIVATE"


def url_check(url: str, *, param: str) -> None:
    """InvalidRequest unless it could be called."""
    outbound.check_url(
        url,
        to_private=settings.SSO_TO_PRIVATE,
        what=_WHAT,
        param=param,
        switch=_TO_PRIVATE_SWITCH,
    )


async def get_json(url: str, *, bearer: str | None = None) -> dict[str, Any]:
    """Raises UpstreamFailed."""
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    return _object(await _call("GET", url, headers=headers))


async def post_form(
    url: str, form: dict[str, str], *, basic: tuple[str, str] | None = None
) -> dict[str, Any]:
    """Raises UpstreamFailed.

    Args:
        basic: the client's id and secret, for the Authorization header.
    """
    return _object(await _call("POST", url, data=form, auth=basic))


async def get_text(url: str) -> str:
    """Return a text that a provider publishes, such as its metadata. Raises UpstreamFailed."""
    return await _call("GET", url, headers={"Accept": "*/*"})


async def _call(method: str, url: str, **options: Any) -> str:
    try:
        async with (
            asyncio.timeout(DEADLINE_S),
            guarded_client(
                to_private=settings.SSO_TO_PRIVATE,
                what=_WHAT,
                switch=_TO_PRIVATE_SWITCH,
                timeout_s=DEADLINE_S,
                headers={"Accept": "application/json"},
                max_bytes=MAX_BYTES,
            ) as client,
        ):
            answer = await client.request(method, url, **options)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError) as error:
        raise provider_failed(f"it did not answer: {str(error) or type(error).__name__}") from error
    if answer.status_code != 200:
        raise provider_failed(f"it answered {answer.status_code}")
    return answer.text


def _object(text: str) -> dict[str, Any]:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise provider_failed("its answer is not JSON") from error
    if not isinstance(found, dict):
        raise provider_failed("its answer is not a JSON object")
    return found
