"""An engine that announces itself: found, asked, drained and gone, with nothing restarted."""

import asyncio
import os
import signal
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.test import override_settings

from backend.generation.pools.accounting import engines_note
from backend.platform.database import in_database
from billing.models import EngineHour
from tests.generation.test_registry import until
from tests.support.engine import ENGINE_HEADERS, ENGINE_KEY, Engine
from tests.support.gateway import ask, caller, chat, pools_of, running_gateway


@pytest.mark.model
async def test_real_engine_announces_itself_asks_for_its_key_drains_and_is_gone(
    transactional_db: None, model_file: Path, tmp_path: Path
) -> None:
    """From its start to SIGKILL, with nothing else restarted."""
    engine = Engine(model_file, tmp_path)
    registry_url = {"PARLEY_ENGINE_REGISTRY": settings.REDIS_URL, "PARLEY_REGION": "here"}
    await asyncio.to_thread(engine.start, {**os.environ, **registry_url})
    pools = pools_of(replicas=(), upstream_model=engine.model)
    try:
        async with running_gateway(pools, engine_key=ENGINE_KEY) as gateway:
            replicas = gateway.queues[pools.models[0].id].replicas
            await until(lambda: replicas.any_healthy)
            _, answer = await ask(chat(await caller(), max_tokens=3))
            assert answer.done and answer.error is None
            [record] = gateway.registry.engines
            assert (record.model, record.url, record.region) == (engine.model, engine.url, "here")
            assert record.revision and record.hardware and record.roles == ("prefill", "decode")
            assert record.capacity.blocks and record.capacity.max_model_len == 8192

            await until(lambda: gateway.registry.engines[0].totals.output_tokens == 3)
            with override_settings(ENGINE_API_KEY=ENGINE_KEY):
                assert await in_database(engines_note) == 1
            hour = await in_database(EngineHour.objects.get, engine_id=record.id)
            assert (hour.name, hour.region, hour.output_tokens) == (record.name, "here", 3)
            assert hour.up_s > hour.busy_s > 0 and hour.input_tokens > hour.cached_tokens

            for key, status in ((None, 401), ("wrong", 401), (ENGINE_KEY, 200)):
                headers = {"Authorization": f"Bearer {key}"} if key else {}
                assert httpx.get(f"{engine.url}/metrics", headers=headers).status_code == status
                assert httpx.get(f"{engine.url}/health", headers=headers).status_code == 200
            for path in ("/drain", "/v1/chat/completions", "/tokenize"):
                assert httpx.post(f"{engine.url}{path}", json={}).status_code == 401, path
            assert httpx.get(f"{engine.url}/usage/a").status_code == 401
            assert replicas.any_healthy, "who has no key drains nothing"

            assert httpx.post(f"{engine.url}/drain", headers=ENGINE_HEADERS).status_code == 200
            await until(lambda: not replicas.any_healthy)
            os.kill(engine.pid, signal.SIGKILL)
            await until(lambda: not replicas.replicas)
    finally:
        engine.stop()
