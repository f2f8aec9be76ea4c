"""The async client, timeouts, and leaving before the end."""

import asyncio
import time
import uuid

import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

pytestmark = pytest.mark.model

LONG = [{"role": "user", "content": "Write a very long story about a lighthouse keeper."}]


@pytest.fixture
async def async_client(product, secret):
    async with openai.AsyncOpenAI(
        base_url=f"{product.url}/v1", api_key=secret, max_retries=0, timeout=120
    ) as client:
        yield client


def state_of(product, request_id: str, *, until=("completed", "cancelled", "failed")) -> dict:
    """The generation's row, once it has ended."""
    deadline = time.monotonic() + 60
    while True:
        rows = product.rows(
            "SELECT state, output_tokens FROM generation_generation WHERE request_id = %s",
            [request_id],
        )
        if rows and rows[0]["state"] in until:
            return rows[0]
        assert time.monotonic() < deadline, rows
        time.sleep(0.1)


async def test_concurrent_requests_are_all_answered(async_client):
    answers = await asyncio.gather(
        *(
            async_client.chat.completions.create(
                model="auto",
                messages=[{"role": "user", "content": f"Write the number {n}."}],
                max_completion_tokens=8,
            )
            for n in range(4)
        )
    )
    assert len({answer.id for answer in answers}) == 4


async def test_closed_stream_cancels_its_generation_which_is_billed_as_delivered(
    async_client, product
):
    request_id = f"closed-{uuid.uuid4()}"
    stream = await async_client.chat.completions.create(
        model="auto",
        messages=LONG,
        stream=True,
        max_completion_tokens=2000,
        extra_headers={"X-Request-Id": request_id},
        extra_body={"ignore_eos": True},
    )
    received = 0
    async for _ in stream:
        received += 1
        if received == 5:
            break
    await stream.close()
    row = await asyncio.to_thread(state_of, product, request_id)
    assert row["state"] == "cancelled"
    assert 0 < row["output_tokens"] < 1000, "what was delivered is billed, and little more"
    usage = product.rows(
        "SELECT u.output_tokens FROM billing_usagerecord u JOIN generation_generation g"
        " ON g.id = u.generation_id WHERE g.request_id = %s",
        [request_id],
    )
    assert [one["output_tokens"] for one in usage] == [row["output_tokens"]]


@pytest.mark.nightly(
    beside="tests/contract/test_async_and_cancelling.py"
    "::test_closed_stream_cancels_its_generation_which_is_billed_as_delivered"
)
async def test_langchain_stream_that_is_left_cancels_its_generation(product, secret):
    request_id = f"left-{uuid.uuid4()}"
    chain = ChatOpenAI(
        model="auto",
        base_url=f"{product.url}/v1",
        api_key=SecretStr(secret),
        max_retries=0,
        max_completion_tokens=2000,
        default_headers={"X-Request-Id": request_id},
        extra_body={"ignore_eos": True},
    )
    chunks = chain.astream(LONG[0]["content"])
    async for _ in chunks:
        break
    await chunks.aclose()
    row = await asyncio.to_thread(state_of, product, request_id)
    assert row["state"] == "cancelled"


async def test_client_timeout_cancels_its_generation(async_client, product):
    request_id = f"timeout-{uuid.uuid4()}"
    with pytest.raises(openai.APITimeoutError):
        await async_client.with_options(timeout=2).chat.completions.create(
            model="auto",
            messages=LONG,
            max_completion_tokens=4000,
            extra_headers={"X-Request-Id": request_id},
            extra_body={"ignore_eos": True},
        )
    row = await asyncio.to_thread(state_of, product, request_id)
    assert row["state"] == "cancelled"
