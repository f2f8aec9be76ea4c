"""Notes what engines have counted, one row for each engine and hour.

A row is computed from the engine's running totals and those that its row of an earlier hour ended
with. So noting twice changes nothing, and what was missed meanwhile (no worker ran, say) is in the
hour in which the engine is seen again.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

from backend.platform.pages import delete_in_pages
from billing.models import EngineHour

KEPT = timedelta(days=400)
_MOST = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Counted:
    """Since this run of an engine began."""

    up_s: float = 0.0
    busy_s: float = 0.0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class EngineSeen:
    """An engine as it announces itself now.

    Attributes:
        engine_id: of this run: another after each start.
        model: as usage names it.
    """

    engine_id: str
    model: str
    name: str
    hardware: str
    region: str
    hour_price: Decimal | None
    counted: Counted


def engine_hours_note(seen: Iterable[EngineSeen], *, at: datetime) -> int:
    """Bring the rows of this hour up to date; how many there are."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    engines = {one.engine_id: one for one in seen}
    earlier = dict(
        EngineHour.objects.filter(engine_id__in=engines, hour__lt=hour)
        .order_by("engine_id", "-hour")
        .distinct("engine_id")
        .values_list("engine_id", "counted")
    )
    rows = [_row(one, hour, Counted(**earlier.get(one.engine_id, {}))) for one in engines.values()]
    EngineHour.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["engine_id", "hour"],
        update_fields=[
            name
            for name in (field.name for field in EngineHour._meta.concrete_fields)
            if name not in {"id", "engine_id", "hour"}
        ],
    )
    return len(rows)


def engine_hours_purge(*, now: datetime) -> int:
    """Delete what is older than `KEPT`."""
    return delete_in_pages(EngineHour.objects.filter(hour__lt=now - KEPT), by="hour")


def price_of(announced: str) -> Decimal | None:
    """An hour's price as an engine writes it; None where it says none that can be one."""
    try:
        price = Decimal(announced)
    except InvalidOperation:
        return None
    return price if price.is_finite() and 0 <= price < _MOST else None


def _row(one: EngineSeen, hour: datetime, before: Counted) -> EngineHour:
    now = one.counted
    return EngineHour(
        engine_id=one.engine_id,
        hour=hour,
        model=one.model,
        name=one.name,
        hardware=one.hardware,
        region=one.region,
        hour_price=one.hour_price,
        up_s=max(0.0, now.up_s - before.up_s),
        busy_s=max(0.0, now.busy_s - before.busy_s),
        input_tokens=max(0, now.input_tokens - before.input_tokens),
        cached_tokens=max(0, now.cached_tokens - before.cached_tokens),
        output_tokens=max(0, now.output_tokens - before.output_tokens),
        counted=asdict(now),
    )
