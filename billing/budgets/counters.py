"""The counters in Redis: for each limit what is spent, and what open reservations may still cost.

What is spent belongs to a month; a reservation does not, because it is not known in which month its
generation will end. Prepaid credit knows no months at all. Keys of one counter, all of them
beginning with `billing:{<organization>}:<currency>:<limit>`; of credit's the month is left out:
    :<yyyymm>           hash `spent`, `fresh_until`, of credit also `ceiling`; absent or no longer
                        fresh: to be rebuilt
    :<yyyymm>:settled   sorted set generation -> unix time at which it was settled
    :<yyyymm>:costs     hash generation -> what it was settled with
    :reserved           hash generation -> what it reserved, and their `sum`
    :deadlines          sorted set generation -> unix time at which its reservation lapses
The organization in braces puts all keys of a request into one slot of a Redis cluster.

Amounts are integers of 64 bits, 10^-6 of the currency, or 10^-3 of one without decimals, whose
sums are long: the most that fits is 9.2 * 10^12 and 9.2 * 10^15. Reservations and costs round up,
limits down, so enforcement errs against overspending by less than such a unit a generation, until
the next rebuild. They are enforcement, not money: an invoice never reads them.

Invariants, with `recent` = settled within `RECENT_S`:
- `sum` = sum of the reservations that are open, in whichever month they were made;
- spent = the ledger's month at the last rebuild + what was settled after it; of credit, what was
  settled after the rebuild that computed its ceiling. Because a generation is settled only after
  its ledger record is committed, and `recent` settlements are remembered, a rebuild can tell
  which of them its snapshot of the ledger contains already. The caller's part: a generation is
  settled within `RECENT_S` of its ledger record;
- a settlement that Redis missed, or counted twice because it came late, is made good by the next
  rebuild. Nothing is reserved by a counter that is older than `FRESH_S`, and a reservation outlives
  the time of its generation by that long: so the cost is counted before the reservation lapses.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from uuid import UUID

from billing.currencies import digits

CREDIT = "credit"
"""The name of prepaid credit's counter."""

RECENT_S = 300
FRESH_S = 120
"""How long after a rebuild a counter is believed. A reservation outlives its generation by at least
as long (`inline.RESERVATION_MARGIN_S`)."""

RESERVATIONS = 1
"""Which of `Counter.keys` holds the reservations."""
SETTLED = 3
"""Index of the key that remembers who was settled."""

SOFT = -1
"""The limit of a counter that refuses nothing."""
OWN_CEILING = -2
"""The limit is the ceiling that the counter holds itself; below zero it refuses everything."""

# KEYS: five a counter, as `Counter.keys` lists them. ARGV: generation, amount, now, deadline, ttl,
# then for each counter its limit, `SOFT` or `OWN_CEILING`. Answers {1, new, fresh} | {0, index} |
# {-1, index}: reserved in all (new: 1 where this call did it, 0 where it was before; for so many
# seconds all counters are fresh) | counter `index` is full, nothing changed | counter `index` is
# lost or no longer fresh, nothing changed.
RESERVE = """
local generation, amount = ARGV[1], tonumber(ARGV[2])
local now, deadline, ttl = ARGV[3], ARGV[4], tonumber(ARGV[5])
local counters, fresh = #KEYS / 5, math.huge
for i = 1, counters do
  local k = (i - 1) * 5
  local held = redis.call('HMGET', KEYS[k + 1], 'spent', 'fresh_until')
  fresh = math.min(fresh, tonumber(held[2] or 0) - tonumber(now))
  if not held[1] or fresh <= 0 then return {-1, i} end
  for _, lapsed in ipairs(redis.call('ZRANGEBYSCORE', KEYS[k + 3], '-inf', now, 'LIMIT', 0, 100)) do
    local held = redis.call('HGET', KEYS[k + 2], lapsed)
    if held and held ~= '0' then redis.call('HINCRBY', KEYS[k + 2], 'sum', '-' .. held) end
    redis.call('HDEL', KEYS[k + 2], lapsed)
    redis.call('ZREM', KEYS[k + 3], lapsed)
  end
  local limit = tonumber(ARGV[5 + i])
  local binds = limit ~= -1
  if limit == -2 then limit = tonumber(redis.call('HGET', KEYS[k + 1], 'ceiling')) end
  if binds and redis.call('HEXISTS', KEYS[k + 2], generation) == 0 then
    local spent = tonumber(redis.call('HGET', KEYS[k + 1], 'spent'))
    local reserved = tonumber(redis.call('HGET', KEYS[k + 2], 'sum') or 0)
    if spent + reserved + amount > limit then return {0, i} end
  end
end
local new = 0
for i = 1, counters do
  local k = (i - 1) * 5
  if redis.call('HSETNX', KEYS[k + 2], generation, ARGV[2]) == 1 then
    new = 1
    redis.call('HINCRBY', KEYS[k + 2], 'sum', ARGV[2])
    redis.call('ZADD', KEYS[k + 3], deadline, generation)
    redis.call('EXPIRE', KEYS[k + 2], ttl)
    redis.call('EXPIRE', KEYS[k + 3], ttl)
  end
end
return {1, new, math.floor(fresh)}
"""

# KEYS: as above. ARGV: generation, cost (0: nothing was used), now, how long settlements are
# remembered. Answers, for each counter, what is spent now, or -1 where the counter is lost.
SETTLE = """
local generation, cost = ARGV[1], tonumber(ARGV[2])
local now, recent = tonumber(ARGV[3]), tonumber(ARGV[4])
local answer = {}
for i = 1, #KEYS / 5 do
  local k = (i - 1) * 5
  local held = redis.call('HGET', KEYS[k + 2], generation)
  if held then
    redis.call('HDEL', KEYS[k + 2], generation)
    redis.call('ZREM', KEYS[k + 3], generation)
    if held ~= '0' then redis.call('HINCRBY', KEYS[k + 2], 'sum', '-' .. held) end
  end
  local lost = redis.call('HEXISTS', KEYS[k + 1], 'spent') == 0
  if cost > 0 and redis.call('ZADD', KEYS[k + 4], 'NX', now, generation) == 1 then
    redis.call('HSET', KEYS[k + 5], generation, ARGV[2])
    if not lost then redis.call('HINCRBY', KEYS[k + 1], 'spent', ARGV[2]) end
    local stale = redis.call('ZRANGEBYSCORE', KEYS[k + 4], '-inf', now - recent, 'LIMIT', 0, 100)
    for _, old in ipairs(stale) do
      redis.call('ZREM', KEYS[k + 4], old)
      redis.call('HDEL', KEYS[k + 5], old)
    end
    redis.call('EXPIRE', KEYS[k + 4], recent)
    redis.call('EXPIRE', KEYS[k + 5], recent)
  end
  answer[i] = lost and '-1' or redis.call('HGET', KEYS[k + 1], 'spent')
end
return answer
"""

# KEYS: five of one counter. ARGV: what the ledger's snapshot says is spent, the ceiling that the
# counter is to hold ('' for none), now, how long settlements are remembered, until when the counter
# is fresh, in how many seconds it may be forgotten, then the generations of the snapshot that may
# have been settled or may yet be. Replaces what the counter held and answers what is spent.
REBUILD = """
local now, recent = tonumber(ARGV[3]), tonumber(ARGV[4])
local contained = {}
for i = 7, #ARGV do contained[ARGV[i]] = true end
local later = 0
for _, generation in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], now - recent, '+inf')) do
  if not contained[generation] then
    later = later + tonumber(redis.call('HGET', KEYS[5], generation) or 0)
  end
end
for i = 7, #ARGV do redis.call('ZADD', KEYS[4], 'NX', now, ARGV[i]) end
redis.call('EXPIRE', KEYS[4], recent)
redis.call('HSET', KEYS[1], 'spent', ARGV[1], 'fresh_until', ARGV[5])
redis.call('HINCRBY', KEYS[1], 'spent', string.format('%.0f', later))
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'ceiling', ARGV[2]) end
redis.call('EXPIRE', KEYS[1], ARGV[6])
return redis.call('HGET', KEYS[1], 'spent')
"""


@dataclass(frozen=True, slots=True)
class Counter:
    """One limit's counter: a budget's in one month, or that of prepaid credit."""

    organization_id: UUID
    currency: str
    name: str
    month: str | None

    @classmethod
    def at(cls, organization_id: UUID, currency: str, name: str, moment: datetime) -> "Counter":
        month = None if name == CREDIT else f"{moment:%Y%m}"
        return cls(organization_id, currency, name, month)

    @property
    def keys(self) -> list[str]:
        """What is spent, the reservations, their deadlines, who was settled, at which cost."""
        stem = f"billing:{{{self.organization_id}}}:{self.currency}:{self.name}"
        spent = stem if self.month is None else f"{stem}:{self.month}"
        return [
            spent,
            f"{stem}:reserved",
            f"{stem}:deadlines",
            f"{spent}:settled",
            f"{spent}:costs",
        ]


def amount_up(value: Decimal, currency: str) -> int:
    """A cost or a reservation as the counters hold it."""
    return int((value * _units(currency)).to_integral_value(ROUND_CEILING))


def amount_down(value: Decimal, currency: str) -> int:
    """A limit as the counters hold it."""
    return int((value * _units(currency)).to_integral_value(ROUND_FLOOR))


def amount_of(units: int, currency: str) -> Decimal:
    return units / _units(currency)


def _units(currency: str) -> Decimal:
    """Return the counters' units in one of the currency."""
    return Decimal(10**6 if digits(currency) else 10**3)
