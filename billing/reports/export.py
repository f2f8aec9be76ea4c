"""Usage as CSV, streamed: memory does not grow with the number of rows.

Asynchronous, because a server under ASGI would collect a synchronous stream whole before it
sent the first byte. Rows are read in pages by key, so no cursor is held while a slow client
reads.
"""

import csv
import io
from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

from backend.platform.database import in_database
from backend.platform.replica import from_replica
from billing.invoices.csv import safe_cell
from billing.models import UsageRecord
from billing.quantities import TOKEN_COLUMNS

PAGE = 5000
COLUMNS = (
    "id",
    "occurred_at",
    "generation_id",
    "organization_id",
    "project_id",
    "user_id",
    "key_id",
    "model",
    "state",
    *TOKEN_COLUMNS,
    "invoice_id",
)


async def usage_csv(
    *, start: datetime, end: datetime, organization_id: UUID | None = None
) -> AsyncIterator[bytes]:
    """The ledger's records of a period in the order they were written, a page a chunk."""
    yield (",".join(COLUMNS) + "\r\n").encode()
    last = 0
    while True:
        page = await in_database(_page, last, start, end, organization_id)
        if not page:
            return
        last = int(str(page[-1][0]))
        yield _as_csv(page)


@from_replica(fresh=False)
def _page(
    after: int, start: datetime, end: datetime, organization_id: UUID | None
) -> list[tuple[object, ...]]:
    records = UsageRecord.objects.filter(
        pk__gt=after, occurred_at__gte=start, occurred_at__lt=end
    ).order_by("pk")
    if organization_id is not None:
        records = records.filter(organization_id=organization_id)
    return list(records.values_list(*COLUMNS)[:PAGE])


def _as_csv(rows: list[tuple[object, ...]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return text.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str):
        return safe_cell(value)
    return "" if value is None else value
