"""Headers of answers: request ids, limits, streaming."""

import asyncio
from typing import Any

import openai
import pytest

from tests.api.users import sign_up

pytestmark = pytest.mark.model

HELLO: Any = [{"role": "user", "content": "Hello"}]
LIMIT_HEADERS = {
    f"x-ratelimit-{what}-{of}"
    for what in ("limit", "remaining", "reset")
    for of in ("requests", "tokens")
}


def create(client, **options):
    return client.chat.completions.with_raw_response.create(
        model="auto", messages=HELLO, max_completion_tokens=4, **options
    )


def test_answer_has_rate_limit_headers_and_a_request_id(client):
    raw = create(client)
    assert set(raw.headers) >= LIMIT_HEADERS
    assert int(raw.headers["x-ratelimit-remaining-requests"]) < int(
        raw.headers["x-ratelimit-limit-requests"]
    )
    assert raw.headers["x-request-id"].startswith("req_")
    assert raw.parse()._request_id == raw.headers["x-request-id"]


def test_stream_has_rate_limit_headers_and_is_not_buffered(client):
    raw = create(client, stream=True)
    assert set(raw.headers) >= LIMIT_HEADERS
    assert raw.headers["content-type"].startswith("text/event-stream")
    assert raw.headers["x-accel-buffering"] == "no"
    assert "no-cache" in raw.headers["cache-control"]
    list(raw.parse())


def test_request_id_of_the_client_is_returned_and_stored(client, product):
    raw = create(client, extra_headers={"X-Request-Id": "contract-test-1"})
    assert raw.headers["x-request-id"] == "contract-test-1"
    rows = product.rows(
        "SELECT state FROM generation_generation WHERE request_id = 'contract-test-1'"
    )
    assert [row["state"] for row in rows] == ["completed"]


async def test_request_over_the_rate_limit_is_429_with_retry_after(product):
    """The plan of a new organization, used up."""
    secret = sign_up(product.url).new_key()["secret"]
    async with openai.AsyncOpenAI(
        base_url=f"{product.url}/v1", api_key=secret, max_retries=0, timeout=120
    ) as client:

        def hello(**options):
            return client.chat.completions.with_raw_response.create(
                model="auto", messages=HELLO, max_completion_tokens=1, **options
            )

        limit = int((await hello()).headers["x-ratelimit-limit-requests"])
        answers = await asyncio.gather(*(hello() for _ in range(limit + 5)), return_exceptions=True)
    refused = [one for one in answers if isinstance(one, openai.RateLimitError)]
    assert refused
    for error in refused:
        assert float(error.response.headers["retry-after"]) > 0
        assert error.type in {"rate_limit_error", "requests", "tokens"}
    by_requests = [one for one in refused if one.code == "rate_limit_exceeded"]
    assert set(by_requests[0].response.headers) >= LIMIT_HEADERS
