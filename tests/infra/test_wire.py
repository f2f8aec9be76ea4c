"""The wire of `make bench-registration` notes requests to generate, and passes everything on."""

import httpx
import pytest

from infra.load.wire import Wire
from infra.services.ports import free_port
from tests.support.upstream import UpstreamThread

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 3}


async def test_request_to_generate_is_noted_and_a_probe_is_not() -> None:
    upstream = UpstreamThread(rate=0.0)
    upstream.start()
    wire = Wire(int(upstream.url.rpartition(":")[2]))
    await wire.start()
    try:
        async with httpx.AsyncClient(base_url=wire.url) as client:
            assert (await client.get("/ready")).status_code == 200
            assert (wire.asked, wire.answered) == ([], [])
            for _ in range(2):  # on one connection
                answer = await client.post("/v1/chat/completions", json=BODY)
                assert '"content":"w2 "' in answer.text and "[DONE]" in answer.text
        assert (len(wire.asked), len(wire.answered)) == (2, 2)
        assert all(
            asked < answered for asked, answered in zip(wire.asked, wire.answered, strict=True)
        )
    finally:
        await wire.stop()
        upstream.stop()
        upstream.close()


async def test_request_to_an_engine_that_is_gone_is_noted() -> None:
    wire = Wire(free_port())
    await wire.start()
    try:
        async with httpx.AsyncClient(base_url=wire.url) as client:
            with pytest.raises(httpx.RemoteProtocolError):
                await client.post("/v1/chat/completions", json=BODY)
        assert (len(wire.asked), wire.answered) == (1, [])
    finally:
        await wire.stop()
