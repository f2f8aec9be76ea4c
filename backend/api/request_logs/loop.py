"""Writes what the requests of a web process have noted, once a second.

A streamed answer is asked for when its generation has ended, of memory or of its events; until
then its request waits here. Reading it before would keep a generation alive whose client left.
"""

import asyncio
from datetime import timedelta
from typing import Any

import orjson
import structlog
from django.utils import timezone

from backend.accounts.data_policy import data_rules
from backend.api.request_logs.note import MAX_BYTES, WITHOUT_TEXT, Noted, noted
from backend.api.request_logs.rows import Ended, Entry, ended_of, requests_write
from backend.generation.gateway import Gateway
from backend.generation.service import generation_result
from backend.platform.database import in_database
from backend.platform.errors import ParleyError

FLUSH_S = 1.0
MAX_WAIT = timedelta(minutes=30)
"""A generation that has not ended by then is logged without its answer."""
_RESULT_S = 5.0

log = structlog.get_logger(__name__)


class RequestLogLoop:
    """One in each web process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._waiting: list[Noted] = []

    async def run(self) -> None:
        """Until the process drains, and once more then."""
        while not self._gateway.active.draining:
            await asyncio.sleep(FLUSH_S)
            await self._flush()
        await self._flush()

    async def _flush(self) -> None:
        found = self._waiting + [noted.popleft() for _ in range(len(noted))]
        if not found:
            return
        self._waiting = []
        try:
            ended = await in_database(ended_of, [one.generation_id for one in found])
            entries = []
            for one in found:
                end = ended.get(one.generation_id) if one.generation_id else None
                if end is not None and end.is_open and one.at > timezone.now() - MAX_WAIT:
                    self._waiting.append(one)
                else:
                    entries.append(await self._entry(one, end))
            await in_database(requests_write, entries)
        except Exception as error:
            # A log: what cannot be written now is given up, and serving goes on.
            log.error("request_log_not_written", error=repr(error), requests=len(found))

    async def _entry(self, one: Noted, end: Ended | None) -> Entry:
        rules = await data_rules(one.principal)
        request = _parsed(one.body)
        keeps = (
            rules.log_days > 0
            and request is not None
            and one.path not in WITHOUT_TEXT
            and request.get("store") is not False
        )
        content = None
        if keeps:
            content = {"request": request, "answer": await self._answer(one, end)}
        model = (request or {}).get("model")
        return Entry(
            noted=one,
            ended=end,
            content=content,
            is_logged=rules.log_days > 0,
            model=model[:100] if isinstance(model, str) else "",
            refusal=_refusal(_parsed(one.answer)) if one.status >= 400 else "",
        )

    async def _answer(self, one: Noted, end: Ended | None) -> dict[str, Any] | None:
        if one.whole is None:
            return _parsed(one.answer)
        if one.generation_id is None or end is None or end.is_open:
            return None
        try:
            async with asyncio.timeout(_RESULT_S):
                completion = await generation_result(
                    self._gateway, one.generation_id, principal=one.principal
                )
        except ParleyError as error:
            return error.as_dict()
        except TimeoutError:
            return None
        answer = one.whole(completion)
        return answer if len(orjson.dumps(answer)) <= MAX_BYTES else None


def request_log_loops(gateway: Gateway) -> dict[str, Any]:
    """For the lifespan of a web process."""
    return {"request_logs": RequestLogLoop(gateway).run}


def _refusal(answer: dict[str, Any] | None) -> str:
    """The code of an error in either dialect; else its type."""
    error = (answer or {}).get("error") or {}
    return str(error.get("code") or error.get("type") or "")


def _parsed(body: bytes | None) -> dict[str, Any] | None:
    try:
        found = orjson.loads(body or b"")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
