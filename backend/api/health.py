"""Probes and metrics, for operators: `/readyz` and `/metrics` answer loopback,
PARLEY_INTERNAL_NETWORKS and the bearer of PARLEY_METRICS_TOKEN only.

`/healthz`: this process answers. `/readyz`: it can do its own work, with database and Redis.
Reported, but stopping nothing: replicas (without any, history, billing and sign-in still work), the
event log (usage waits in the outbox) and the classifiers of this process (one that fails decides as
its policy says).
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from ssl import SSLContext, SSLError
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError

from backend.accounts.mail import mails_count
from backend.api.authentication import bearer_parts
from backend.api.errors import error_response
from backend.api.proxies import FORWARDED_BY_UNTRUSTED, Network, is_within, networks_from
from backend.generation.pools.health import ready_replicas
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied
from backend.platform.json import encode_json
from backend.platform.redis import async_client
from backend.platform.redis_memory import memory_refresh, write_check
from safety.audit.metrics import drift_refresh
from safety.health import recent_failures

_CHECK_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class Check:
    """One question of `/readyz`; what `ask` raises is what is wrong."""

    ask: Callable[[], Awaitable[None]]
    required: bool


async def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain", headers={"Cache-Control": "no-store"})


async def readyz(request: HttpRequest) -> HttpResponse:
    """200 or 503, with `{"ready", "checks": {name: {"ok", "required", "ms", "error"?}}}`."""
    if not is_internal(request):
        return _for_insiders_only()
    asked = checks()
    results = await asyncio.gather(*(_timed(check.ask) for check in asked.values()))
    answers = {
        name: {"required": check.required, **result}
        for (name, check), result in zip(asked.items(), results, strict=True)
    }
    ready = all(answer["ok"] for answer in answers.values() if answer["required"])
    return HttpResponse(
        encode_json({"ready": ready, "checks": answers}),
        status=200 if ready else 503,
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


def checks() -> dict[str, Check]:
    """What `/readyz` asks, by name."""
    return {
        "database": Check(_database, required=True),
        "redis": Check(_redis, required=True),
        "replicas": Check(_replicas, required=False),
        **{
            name: Check(partial(_listens, *service), required=False)
            for name, service in settings.OPTIONAL_SERVICES.items()
        },
        "safety": Check(_safety, required=False),
    }


async def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text; of all web processes where `PROMETHEUS_MULTIPROC_DIR` is set."""
    if not is_internal(request):
        return _for_insiders_only()
    with suppress(RedisError, OSError):  # figures are needed most while something is down
        await drift_refresh()
        await memory_refresh(async_client())
    with suppress(DatabaseError, PoolTimeout):
        await in_database(mails_count)
    registry = REGISTRY
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def is_internal(request: HttpRequest) -> bool:
    """Whether `request` comes from where this installation is run, or shows its token.

    What an untrusted proxy forwards may come from anywhere.
    """
    if settings.METRICS_TOKEN:
        kind, shown = bearer_parts(request.headers.get("Authorization", ""))
        if kind == "bearer" and constant_time_compare(shown, settings.METRICS_TOKEN):
            return True
    if getattr(request, "scope", {}).get(FORWARDED_BY_UNTRUSTED):
        return False
    return is_within(request.META.get("REMOTE_ADDR", ""), _internal_networks())


@cache
def _internal_networks() -> tuple[Network, ...]:
    return networks_from(
        f"127.0.0.0/8,::1,{settings.INTERNAL_NETWORKS}", name="PARLEY_INTERNAL_NETWORKS"
    )


def _for_insiders_only() -> HttpResponse:
    return error_response(
        PermissionDenied(
            "This address is for the installation's own network. Send the token that"
            " PARLEY_METRICS_TOKEN holds as 'Authorization: Bearer TOKEN'."
        )
    )


async def _timed(check: Callable[[], Awaitable[None]]) -> dict[str, Any]:
    started = time.perf_counter()
    result: dict[str, Any] = {"ok": True}
    try:
        async with asyncio.timeout(_CHECK_TIMEOUT_S):
            await check()
    except Exception as error:  # whatever a driver raises: it is what the probe reports
        # The kind only: messages of drivers hold addresses and user names.
        result = {"ok": False, "error": type(error).__name__}
    return {**result, "ms": round((time.perf_counter() - started) * 1000, 1)}


async def _database() -> None:
    def select_one() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    await in_database(select_one)


async def _redis() -> None:
    await write_check(async_client())


class NoReadyReplica(Exception):
    """No replica of any model accepts work."""


async def _replicas() -> None:
    if not await ready_replicas():
        raise NoReadyReplica


class SafetyLayerFailed(Exception):
    """A classifier crashed or was late in the last minutes; the log has which and why."""


async def _safety() -> None:
    if recent_failures():
        raise SafetyLayerFailed


async def _listens(addresses: str, tls: Callable[[], SSLContext | None]) -> None:
    """A connection to the first that listens, with its TLS; a client's start can take seconds."""
    context = tls()
    for address in (urlsplit(f"//{each.strip()}") for each in addresses.split(",")):
        try:
            _, writer = await asyncio.open_connection(
                address.hostname, address.port or 9092, ssl=context
            )
        except SSLError:
            raise  # it listens: whoever reads this looks for a certificate, not for a process
        except OSError:
            continue
        writer.close()
        return
    raise ConnectionRefusedError
