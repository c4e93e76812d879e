-- Take turns at hosts and addresses with crawls of other names. KEYS[1]: prefix of all turns (see frontier/turns.py).
-- ARGV[1]: {crawl, {{token, due, expires, authority, address or ''}, ...}}; ARGV[2] only in tests: now.
-- returns of each lease 0, its turn is taken, or the instant from which on to ask again.
-- Cost O(leases). Atomic, so that one crawl has the turn, and at host and address alike.

local P, A = KEYS[1], cmsgpack.unpack(ARGV[1])
local crawl, asked = A[1], A[2]
local call, max, min, floor = redis.call, math.max, math.min, math.floor
local AGAIN, GRACE = 1000, 10000
local now = tonumber(ARGV[2])
if not now then
  local t = call('TIME')
  now = t[1] * 1000 + floor(t[2] / 1000)
end
-- a full Redis lets a script write that has written before
call('DEL', P .. 'oom')

-- of a turn {crawl, token of the lease or '' while it rests, until}, of who is next {crawl, until}
local function read(key)
  local text = call('GET', key)
  return text and cmsgpack.unpack(text)
end

local function write(key, value, until_ms)
  call('SET', key, cmsgpack.pack(value), 'PX', max(1, until_ms - now) + 1000)
end

-- nil when a request sent at `due` is ours to send, else when to ask again
local function others_until(name, token, due)
  local turn, next_one = read(P .. 't:' .. name), read(P .. 'n:' .. name)
  if turn and turn[2] == token then return end
  local is_next = next_one and next_one[1] == crawl
  if turn and turn[1] ~= crawl and turn[3] > due then
    local again = turn[2] == '' and turn[3] or min(turn[3], max(now, due) + AGAIN)
    if is_next or not next_one or next_one[2] <= now then
      write(P .. 'n:' .. name, { crawl, again + GRACE }, again + GRACE)
    end
    return again
  end
  -- it was ours, or nobody's, and another crawl has waited for it
  if next_one and not is_next and next_one[2] > now then
    return max(now, due, turn and turn[2] == '' and turn[3] or 0) + AGAIN
  end
end

local function take(name, token, expires)
  write(P .. 't:' .. name, { crawl, token, expires }, expires)
  local next_one = read(P .. 'n:' .. name)
  if next_one and next_one[1] == crawl then call('DEL', P .. 'n:' .. name) end
end

local answers = {}
for i, lease in ipairs(asked) do
  local token, due, expires, authority, address = unpack(lease)
  local again = max(others_until(authority, token, due) or 0, address ~= '' and others_until(address, token, due) or 0)
  if again == 0 then
    take(authority, token, expires)
    if address ~= '' then take(address, token, expires) end
  end
  answers[i] = again
end
return cmsgpack.pack(answers)
