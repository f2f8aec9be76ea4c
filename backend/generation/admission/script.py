"""The Lua scripts of the limits. All of a caller's limits are charged, or none.

Rates are GCRA: a key holds the time (microseconds of Redis' clock) until which the rate is used
up; a request of cost c moves it by c minutes / limit, and is refused if that ends more than a
minute ahead. One number a limit, exact, with no window whose border lets twice as much through.
Source: ITU-T I.371, "Generic cell rate algorithm", in its virtual scheduling form.
"""

# KEYS: for each scope: requests, tokens, active. ARGV: generation id, tokens, most seconds a
# generation lasts, then for each scope: requests a minute, tokens a minute, concurrent.
# Returns {0, remaining and reset of requests and tokens, the tightest over all scopes}, or
# {1, scope, kind (1 requests, 2 tokens, 3 concurrency), wait in microseconds, the same four}, or
# {2, the same four} where this generation is already running: it is charged once.
ADMIT = """
local MINUTE = 60000000
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local scopes = #KEYS / 3
local tats, refused, kind, wait = {}, 0, 0, 0
local left = {-1, -1}
local reset = {0, 0}
local counted_until = redis.call('ZSCORE', KEYS[3], ARGV[1])
local running = counted_until and tonumber(counted_until) > now
for s = 1, scopes do
  for r = 1, 2 do
    local limit = tonumber(ARGV[3 + 3 * (s - 1) + r])
    local interval = MINUTE / limit
    -- A cost over the whole limit could never pass: it passes when nothing else is used, and
    -- the debt that settling leaves is then paid by waiting.
    local cost = r == 1 and 1 or math.min(tonumber(ARGV[2]), limit)
    if running then cost = 0 end
    local tat = math.max(tonumber(redis.call('GET', KEYS[3 * (s - 1) + r]) or '0'), now)
    local after = tat + cost * interval
    if after - now > MINUTE + 1 then
      if after - now - MINUTE > wait then refused, kind, wait = s, r, after - now - MINUTE end
      after = tat
    end
    tats[#tats + 1] = after
    local remaining = math.max(0, math.floor((MINUTE - (after - now)) / interval))
    if left[r] < 0 or remaining < left[r] then left[r] = remaining end
    reset[r] = math.max(reset[r], after - now)
  end
  local active = KEYS[3 * s]
  redis.call('ZREMRANGEBYSCORE', active, '-inf', now)
  if refused == 0 and redis.call('ZCARD', active) >= tonumber(ARGV[3 + 3 * s]) then
    refused, kind, wait = s, 3, 1000000
  end
end
local state = {left[1], math.floor(reset[1]), left[2], math.floor(reset[2])}
if running then return {2, unpack(state)} end
if refused > 0 then return {1, refused, kind, math.floor(wait), unpack(state)} end
for s = 1, scopes do
  for r = 1, 2 do
    local tat = tats[2 * (s - 1) + r]
    local keep = math.floor((tat - now) / 1000) + 1000
    redis.call('SET', KEYS[3 * (s - 1) + r], string.format('%.0f', tat), 'PX', keep)
  end
  redis.call('ZADD', KEYS[3 * s], now + ARGV[3] * 1000000, ARGV[1])
  redis.call('EXPIRE', KEYS[3 * s], ARGV[3])
end
return {0, unpack(state)}
"""

# KEYS: for each scope: tokens, active. ARGV: generation id, tokens charged beforehand, tokens
# used, then each scope's tokens a minute. A second call for one generation changes nothing.
SETTLE = """
local MINUTE = 60000000
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
for s = 1, #KEYS / 2 do
  if redis.call('ZREM', KEYS[2 * s], ARGV[1]) == 1 then
    local limit = tonumber(ARGV[3 + s])
    local difference = tonumber(ARGV[3]) - math.min(tonumber(ARGV[2]), limit)
    local tat = math.max(tonumber(redis.call('GET', KEYS[2 * s - 1]) or '0'), now)
    tat = math.max(now, tat + difference * MINUTE / limit)
    local keep = math.floor((tat - now) / 1000) + 1000
    redis.call('SET', KEYS[2 * s - 1], string.format('%.0f', tat), 'PX', keep)
  end
end
return 1
"""

# KEYS: one scope's requests, tokens, active. ARGV: requests a minute, tokens a minute. Returns
# remaining and reset of both, and how many generations run. Changes nothing.
LOOK = """
local MINUTE = 60000000
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local state = {}
for r = 1, 2 do
  local used = math.max(tonumber(redis.call('GET', KEYS[r]) or '0') - now, 0)
  local interval = MINUTE / tonumber(ARGV[r])
  state[#state + 1] = math.max(0, math.floor((MINUTE - used) / interval))
  state[#state + 1] = math.floor(used)
end
state[#state + 1] = redis.call('ZCOUNT', KEYS[3], string.format('(%.0f', now), '+inf')
return state
"""
