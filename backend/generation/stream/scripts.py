"""The Lua scripts of the stream buffer. Each keeps one invariant, atomically.

A lease is the text `<epoch>:<process id>`. Times are milliseconds of Redis' own clock, so that
processes need not agree on one.
"""

# Append events of many generations. A stream grows only under the caller's lease and without
# gaps; entries that are there already are skipped, so an append may be repeated.
# KEYS: lease, stream, for each generation. ARGV: stream TTL in ms; JSON: for each generation
# [lease value, seq of the first event, lengths of data, meta, data, meta, …]; and all of these
# joined. Three arguments, because redis-py spends more on each than Lua does on cutting it up.
# Returns for each generation: the last seq of its stream; MISSING or FENCED.
APPEND = """
local out, batch, at = {}, cjson.decode(ARGV[2]), 1
local function cut(length)
  at = at + length
  return string.sub(ARGV[3], at - length, at - 1)
end
for k = 1, #KEYS, 2 do
  local item = batch[(k + 1) / 2]
  local want, first, lengths = item[1], item[2], item[3]
  local from = at
  local held = redis.call('GET', KEYS[k])
  if held ~= want then
    out[#out + 1] = held and -2 or -1
  else
    local last, tail = 0, redis.call('XREVRANGE', KEYS[k + 1], '+', '-', 'COUNT', 1)
    if tail[1] then last = tonumber(string.match(tail[1][1], '^%d+')) end
    local created = last == 0
    if last >= first - 1 then
      for i = 1, #lengths, 2 do
        local seq = first + (i - 1) / 2
        local data, meta = cut(lengths[i]), cut(lengths[i + 1])
        if seq > last then
          redis.call('XADD', KEYS[k + 1], string.format('%d-0', seq), 'd', data, 'm', meta)
          last = seq
        end
      end
      if created and last > 0 then redis.call('PEXPIRE', KEYS[k + 1], ARGV[1]) end
    end
    out[#out + 1] = last
  end
  at = from
  for i = 1, #lengths do at = at + lengths[i] end
end
return out
"""
MISSING = -1
FENCED = -2

# Take the lease, unless a higher epoch has it, and keep what a successor needs.
# KEYS: lease, request, leases. ARGV: lease value, epoch, lease ms, request, request TTL ms, id.
# Returns 1, or 0 when another writer is ahead.
ACQUIRE = """
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] and tonumber(string.match(held, '^%d+')) >= tonumber(ARGV[2]) then
  return 0
end
local t = redis.call('TIME')
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
redis.call('ZADD', KEYS[3], t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[3], ARGV[6])
return 1
"""

# Renew many leases. KEYS: leases, then lease and cancel mark of each generation.
# ARGV: lease ms, then lease value and id of each. Returns for each: 1 renewed, 2 renewed and
# it was asked to cancel, MISSING or FENCED.
RENEW = """
local t = redis.call('TIME')
local till, out = t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[1], {}
for i = 1, (#KEYS - 1) / 2 do
  local lease, want, id = KEYS[2 * i], ARGV[2 * i], ARGV[2 * i + 1]
  local held = redis.call('GET', lease)
  if held == want then
    redis.call('PEXPIRE', lease, ARGV[1])
    redis.call('ZADD', KEYS[1], till, id)
    out[i] = 1 + redis.call('EXISTS', KEYS[2 * i + 1])
  else
    out[i] = held and -2 or -1
  end
end
return out
"""

# Give a lease back. KEYS: lease, leases, request, stream. ARGV: lease value, id, what for
# ("ended": the stream stays for late readers, the rest goes; "handover": any process may claim it),
# stream TTL ms. Returns 1, or 0 when the lease was not ours any more.
RELEASE = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
if ARGV[3] == 'handover' then
  redis.call('ZADD', KEYS[2], 0, ARGV[2])
else
  redis.call('ZREM', KEYS[2], ARGV[2])
  redis.call('DEL', KEYS[3])
  redis.call('PEXPIRE', KEYS[4], ARGV[4])
end
return 1
"""

# End a stream with these entries, in the place of whatever it holds, and give the lease back. Not
# while another process has the lease; without any, yes: Redis has lost it, or this is a repetition.
# KEYS: lease, leases, request, stream. ARGV: lease value, id, stream TTL ms; JSON: the lengths of
# data, meta, data, meta, …; and all of these joined. Returns 1, or 0 when another has the lease.
END_WITH = """
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1], KEYS[3], KEYS[4])
redis.call('ZREM', KEYS[2], ARGV[2])
local lengths, at = cjson.decode(ARGV[4]), 1
local function cut(length)
  at = at + length
  return string.sub(ARGV[5], at - length, at - 1)
end
for i = 1, #lengths, 2 do
  local data, meta = cut(lengths[i]), cut(lengths[i + 1])
  redis.call('XADD', KEYS[4], string.format('%d-0', (i + 1) / 2), 'd', data, 'm', meta)
end
redis.call('PEXPIRE', KEYS[4], ARGV[3])
return 1
"""

# Ids whose lease has lapsed. KEYS: leases. ARGV: how many at most.
LAPSED = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
"""

# Be counted among the live processes. KEYS: processes. ARGV: process id, presence ms.
# Returns how many there are.
PRESENT = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return redis.call('ZCARD', KEYS[1])
"""

# For how long Redis has had its memory. KEYS: since. Returns seconds; 0 where it has just lost it.
MEMORY_AGE = """
local now = redis.call('TIME')[1]
redis.call('SET', KEYS[1], now, 'NX')
return now - redis.call('GET', KEYS[1])
"""
