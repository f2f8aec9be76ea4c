"""`manage.py announce_engine`: keeps an engine that is not ours in the registry."""

import asyncio
import uuid
from typing import Any

import httpx
import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from msgspec.structs import replace
from redis.exceptions import RedisError

from backend.generation.pools.foreign import READERS, Samples, Totaller
from backend.generation.pools.registry import EngineRecord, announce
from backend.platform.redis import async_client

log = structlog.get_logger(__name__)

BEAT_S = 1.0
_TIMEOUT_S = 0.8


class Command(BaseCommand):
    help = (
        "Announces a vLLM, SGLang or hosted OpenAI-compatible engine every second, with the load"
        " that its /metrics tells, until it is ended. It is asked with PARLEY_ENGINE_API_KEY."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", help="http(s)://host[:port]")
        parser.add_argument("--kind", choices=sorted(READERS), default="vllm")
        parser.add_argument("--model", required=True, help="the name that it serves")
        parser.add_argument("--name", default="", help="for people; default: host and port")
        parser.add_argument("--revision", default="")
        parser.add_argument("--hardware", default="")
        parser.add_argument("--region", default="")
        parser.add_argument("--hour-price", default="", help="US dollars")
        parser.add_argument("--sequences", type=int, default=0, help="that it computes at once")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.ENGINE_API_KEY:
            raise CommandError("Set PARLEY_ENGINE_API_KEY: records are signed with it.")
        url: str = options["url"].rstrip("/")
        record = EngineRecord(
            id=uuid.uuid4().hex,
            name=options["name"] or url.partition("://")[2],
            model=options["model"],
            url=url,
            state="down",
            **{name: options[name] for name in ("revision", "hardware", "region", "hour_price")},
        )
        asyncio.run(keep_announced(record, options["kind"], sequences=options["sequences"]))


async def keep_announced(record: EngineRecord, kind: Any, *, sequences: int = 0) -> None:
    """Announce `record` every second with what its engine tells; runs until it is cancelled."""
    headers = {"Authorization": f"Bearer {settings.ENGINE_API_KEY}"}
    async with httpx.AsyncClient(
        base_url=record.url, timeout=_TIMEOUT_S, headers=headers
    ) as client:
        totaller = Totaller()
        while True:
            now = await observed(client, record, kind, totaller, sequences=sequences)
            try:
                await announce(async_client(), now, settings.ENGINE_API_KEY)
            except (RedisError, OSError) as error:
                log.warning("engine_not_announced", error=str(error))
            await asyncio.sleep(BEAT_S)


async def observed(
    client: httpx.AsyncClient,
    record: EngineRecord,
    kind: Any,
    totaller: Totaller,
    *,
    sequences: int,
) -> EngineRecord:
    """`record` as its engine is now; `down` where it does not answer."""
    try:
        answer = await client.get("/v1/models" if kind == "openai" else "/metrics")
        answer.raise_for_status()
        samples = Samples("" if kind == "openai" else answer.text)
        capacity, load = READERS[kind](samples)
    except (httpx.HTTPError, ValueError) as error:
        log.warning("engine_not_observed", url=record.url, error=str(error))
        totaller.missed()
        return replace(record, state="down", totals=totaller.totals())
    totaller.read(samples, load)
    return replace(
        record,
        state="ready",
        capacity=replace(capacity, sequences=sequences),
        load=load,
        totals=totaller.totals(),
    )
