"""What the CSV export of a million ledger records costs in memory: part of `billing.bench`.

The rows are written by PostgreSQL itself, so that nothing of them is in this process before the
export reads them. The export is consumed as a server would, a chunk at a time.
"""

import asyncio
import gc
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psutil
from django.db import connection

from backend.accounts.models import Organization
from billing.reports.export import usage_csv

_SAMPLE_S = 0.02
_INSERT = """
INSERT INTO billing_usagerecord (
    generation_id, occurred_at, recorded_at, organization_id, project_id, user_id, key_id, model,
    pool, input_tokens, cached_input_tokens, output_tokens, state, ttft_ms, duration_ms, client_hash
)
SELECT gen_random_uuid(), %(start)s + n * interval '1 second', now(),
    %(organization)s, lpad(to_hex(n %% 200), 32, '0')::uuid,
    lpad(to_hex(n %% 1000), 32, '0')::uuid, lpad(to_hex(n %% 1000), 32, '0')::uuid,
    'model-' || n %% 3, 'pool', n %% 4000, n %% 1000, n %% 2000, 'completed', 200, 3000, ''
FROM generate_series(1, %(rows)s) AS n
"""


@dataclass(frozen=True, slots=True)
class Exported:
    """Attributes: `growth` is the peak of this process's memory over what it was, in bytes."""

    rows: int
    size: int
    seconds: float
    growth: int


def measure_export(rows: int) -> Exported:
    """Write that many records and export them; a hundredth is exported first, to warm up."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    owner = Organization.objects.create(name="Export", plan_id="free")
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, {"start": start, "rows": rows, "organization": owner.id})
        cursor.execute("ANALYZE billing_usagerecord")
    asyncio.run(_consume(start, start + timedelta(seconds=rows // 100)))
    gc.collect()
    with _PeakMemory() as memory:
        began = time.perf_counter()
        lines, size = asyncio.run(_consume(start, start + timedelta(seconds=rows + 1)))
        seconds = time.perf_counter() - began
    return Exported(lines - 1, size, seconds, memory.growth)


async def _consume(start: datetime, end: datetime) -> tuple[int, int]:
    lines = size = 0
    async for chunk in usage_csv(start=start, end=end):
        lines += chunk.count(b"\n")
        size += len(chunk)
    return lines, size


class _PeakMemory:
    """Samples the resident size in a thread; `growth` is the highest sample less the first."""

    def __enter__(self) -> "_PeakMemory":
        self._process = psutil.Process()
        self._first = self._peak = self._process.memory_info().rss
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def growth(self) -> int:
        return self._peak - self._first

    def _sample(self) -> None:
        while not self._stop.wait(_SAMPLE_S):
            self._peak = max(self._peak, self._process.memory_info().rss)
