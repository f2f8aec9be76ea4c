"""The Lua script of the shared queue: one round of one web process at one pool.

A round says that the process lives and how much it runs, brings its new tickets, takes out those
that are gone, gives free places to those first in line, whoever waits with them, and tells what it
has been given. Everything is said anew in each round, so that an emptied Redis is made good by the
next one, and a process that says nothing any more holds no place.

A ticket's rank never changes: `max(now, its organization's clock) + priority`, in seconds, smaller
first. Each ticket that has to wait moves the clock of its organization on by what it weighs in
tokens, and no more than 30 s ahead: so organizations that wait share the places, a plan is worth
some seconds, and nothing starves.

Source: Zhang 1990, "VirtualClock: a new traffic control algorithm for packet switching networks".
"""

SECONDS_PER_TOKEN = 0.002
"""Of an organization's clock: 1,000 tokens are two seconds."""
MAX_CLOCK_LEAD_S = 30.0

# KEYS: waiting (ticket -> rank), tickets (ticket -> process|weight|entered), processes (-> until
# when they live), running (process -> weight), clocks (organization -> seconds), served (times),
# grants (ticket -> process|weight, not yet fetched).
# ARGV: process, lifetime in seconds, places, weight that it runs, how many were served, then counts
# of and the values for: new tickets (id, organization, priority in seconds, tokens, weight, rank or
# "", "1" for first in line), tickets that are gone (id), tickets asked for (id).
# Returns {ranks of the new tickets, ids granted, depth, weight that all run, served a second,
# positions of the tickets asked for (-1: unknown), processes}; fractions as texts.
ROUND = (
    f"local PER_TOKEN, MAX_LEAD = {SECONDS_PER_TOKEN}, {MAX_CLOCK_LEAD_S}\n"
    + """
local waiting, tickets, processes, running = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local clocks, served, grants = KEYS[5], KEYS[6], KEYS[7]
local t = redis.call('TIME')
local now = t[1] + t[2] / 1000000
local own = ARGV[1]
local at = 6
local function next_argument() at = at + 1; return ARGV[at - 1] end

redis.call('ZADD', processes, now + ARGV[2], own)
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', processes, '-inf', now)) do
  redis.call('ZREM', processes, dead)
  redis.call('HDEL', running, dead)
end
for _ = 1, tonumber(ARGV[5]) do redis.call('LPUSH', served, now) end
redis.call('LTRIM', served, 0, 127)

local ranks = {}
for _ = 1, tonumber(next_argument()) do
  local id, organization, priority = next_argument(), next_argument(), tonumber(next_argument())
  local tokens, weight = tonumber(next_argument()), next_argument()
  local rank, first = next_argument(), next_argument()
  local known = redis.call('ZSCORE', waiting, id)
  if known then
    rank = known
  elseif rank == '' then
    if first == '1' then
      rank = string.format('%.6f', now - 1000)
    else
      local clock = math.max(now, tonumber(redis.call('HGET', clocks, organization) or '0'))
      rank = string.format('%.6f', clock + priority)
      clock = math.min(clock + tokens * PER_TOKEN, now + MAX_LEAD)
      redis.call('HSET', clocks, organization, string.format('%.6f', clock))
    end
  end
  redis.call('ZADD', waiting, rank, id)
  redis.call('HSET', tickets, id, own .. '|' .. weight .. '|' .. now)
  ranks[#ranks + 1] = rank
end
for _ = 1, tonumber(next_argument()) do
  local id = next_argument()
  redis.call('ZREM', waiting, id)
  redis.call('HDEL', tickets, id)
  redis.call('HDEL', grants, id)
end

local granted, own_weight, total = {}, tonumber(ARGV[4]), 0
local pending = redis.call('HGETALL', grants)
for i = 1, #pending, 2 do
  local process, weight = string.match(pending[i + 1], '^(.*)|(.*)$')
  if process == own then
    granted[#granted + 1] = pending[i]
    own_weight = own_weight + weight
    redis.call('HDEL', grants, pending[i])
  elseif redis.call('ZSCORE', processes, process) then
    total = total + weight
  else
    redis.call('HDEL', grants, pending[i])
  end
end
redis.call('HSET', running, own, own_weight)
for _, weight in ipairs(redis.call('HVALS', running)) do total = total + weight end

local places = tonumber(ARGV[3])
for _, id in ipairs(redis.call('ZRANGE', waiting, 0, 127)) do
  local ticket = redis.call('HGET', tickets, id) or ''
  local process, weight, entered = string.match(ticket, '^(.*)|(.*)|(.*)$')
  if not process or now - entered > 900 then
    redis.call('ZREM', waiting, id)
    redis.call('HDEL', tickets, id)
  elseif redis.call('ZSCORE', processes, process) then
    if places == 0 or (total > 0 and total + weight > places) then break end
    redis.call('ZREM', waiting, id)
    redis.call('HDEL', tickets, id)
    total = total + weight
    if process == own then
      granted[#granted + 1] = id
      redis.call('HINCRBY', running, own, weight)
    else
      redis.call('HSET', grants, id, process .. '|' .. weight)
    end
  end
end

local positions = {}
for _ = 1, tonumber(next_argument()) do
  positions[#positions + 1] = redis.call('ZRANK', waiting, next_argument()) or -1
end
local rate, count = 0, redis.call('LLEN', served)
if count > 1 then
  rate = count / math.max(1, now - redis.call('LINDEX', served, -1))
end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, 3600) end
return {ranks, granted, redis.call('ZCARD', waiting), total, tostring(rate), positions,
  redis.call('ZCARD', processes)}
"""
)
