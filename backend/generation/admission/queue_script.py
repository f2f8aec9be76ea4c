"""The Lua script of the shared queue: one round of one web process at one pool.

A round says that the process lives and how much it runs, brings its new tickets, takes out those
that are gone, gives free places to those first in line, whoever waits with them, and tells what it
has been given. Everything is said anew in each round, so that an emptied Redis is made good by the
next one, and a process that says nothing any more holds no place.

A ticket's rank is the time it came and its plan's seconds, smaller first. Which ticket of a plan
takes the plan's first rank is its organizations' turn, and the one that gives it up gets the
other's (decision 0043, as in fair_order.py); an organization's next turn is as many tokens later
as its last ticket weighs. So organizations of a plan share the places by tokens, and nothing
starves.

Source: Goyal, Vin and Cheng 1996, "Start-time fair queueing".
"""

# KEYS: waiting (ticket -> rank), tickets (ticket -> process|weight|entered|plan|tokens), processes
# (-> until when they live), running (process -> weight), turns (plan and organization -> its next
# turn; plan -> the present one; beside it, for each plan, ticket -> turn), served (times), grants
# (ticket -> process|weight, not yet fetched).
# ARGV: process, lifetime in seconds, places, weight that it runs, how many were served, then counts
# of and the values for: new tickets (id, organization, priority in seconds, tokens, weight, rank or
# "", "1" for first in line), tickets that are gone (id), tickets asked for (id).
# Returns {ranks of the new tickets, ids granted, depth, weight that all run, served a second,
# positions of the tickets asked for (-1: unknown), processes, weight that the process may give to
# its own until its next round}; fractions as texts.
ROUND = """
local waiting, tickets, processes, running = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local turns, served, grants = KEYS[5], KEYS[6], KEYS[7]
local used = {}
local function turns_of(plan) local key = turns .. ':' .. plan; used[key] = true; return key end
local function ticket_of(id)
  local ticket = redis.call('HGET', tickets, id) or ''
  return string.match(ticket, '^(.*)|(.*)|(.*)|(.*)|(.*)$')
end
local function take_out(id)
  local _, _, _, plan = ticket_of(id)
  if plan then redis.call('ZREM', turns_of(plan), id) end
  redis.call('ZREM', waiting, id)
  redis.call('HDEL', tickets, id)
end
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
      rank, priority = string.format('%.6f', now - 1000), -1000
    else
      rank = string.format('%.6f', now + priority)
    end
  end
  local plan = tostring(priority)
  if not redis.call('ZSCORE', turns_of(plan), id) then
    local turn = math.max(tonumber(redis.call('HGET', turns, plan) or '0'),
      tonumber(redis.call('HGET', turns, plan .. '|' .. organization) or '0'))
    redis.call('ZADD', turns_of(plan), turn, id)
    redis.call('HSET', turns, plan .. '|' .. organization, turn + math.max(1, tokens))
  end
  redis.call('ZADD', waiting, rank, id)
  redis.call('HSET', tickets, id,
    own .. '|' .. weight .. '|' .. now .. '|' .. plan .. '|' .. tokens)
  ranks[#ranks + 1] = rank
end
for _ = 1, tonumber(next_argument()) do
  local id = next_argument()
  take_out(id)
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
local function first_alive(key)
  for _, id in ipairs(redis.call('ZRANGE', key, 0, 127)) do
    local process, _, entered = ticket_of(id)
    if not process or now - entered > 900 then
      take_out(id)
      redis.call('ZREM', key, id)
    elseif redis.call('ZSCORE', processes, process) then
      return id
    end
  end
end
while places > 0 do
  local oldest = first_alive(waiting)
  if not oldest then break end
  local _, _, _, plan = ticket_of(oldest)
  local id = first_alive(turns_of(plan)) or oldest
  local process, weight, _, _, tokens = ticket_of(id)
  if total > 0 and total + weight > places then break end
  if id ~= oldest then
    redis.call('ZADD', waiting, redis.call('ZSCORE', waiting, id), oldest)
  end
  local behind = math.max(1, redis.call('ZCARD', turns_of(plan)))
  local present = tonumber(redis.call('HGET', turns, plan) or '0') + math.max(1, tokens) / behind
  local turn = tonumber(redis.call('ZSCORE', turns_of(plan), id) or '0')
  redis.call('HSET', turns, plan, math.max(present, turn))
  take_out(id)
  total = total + weight
  if process == own then
    granted[#granted + 1] = id
    redis.call('HINCRBY', running, own, weight)
  else
    redis.call('HSET', grants, id, process .. '|' .. weight)
  end
end
local budget = 0
if redis.call('ZCARD', waiting) == 0 then
  redis.call('DEL', turns)
  -- What the process may give without asking counts as running until its next round.
  budget = math.max(0, math.floor((places - total) / (2 * redis.call('ZCARD', processes))))
  redis.call('HINCRBY', running, own, budget)
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
for key in pairs(used) do redis.call('EXPIRE', key, 3600) end
return {ranks, granted, redis.call('ZCARD', waiting), total, tostring(rate), positions,
  redis.call('ZCARD', processes), budget}
"""
