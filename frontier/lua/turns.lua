-- End and take turns at hosts and addresses, with crawls of other names. KEYS[1]: prefix of all turns (see
-- frontier/turns.py). ARGV[1]: {crawl, ends, asks}; ARGV[2] only in tests: now.
--   ends {token, due, authority or '', when others may ask it, address or '', when others may ask that}, ...
--   asks {token, due, expires, authority, end of its turn, address or '', end of its turn}, ...
-- returns for each of asks two instants from which on to ask again for the host, for the address: 0, 0 when the turns
-- are taken. When not, none is: a turn that the lease has had before is ended, too.
-- Cost O(ends + asks). Atomic, so that one crawl has the turn, at host and address alike, and nobody ends the turn of a
-- later lease.

local P, A = KEYS[1], cmsgpack.unpack(ARGV[1])
local crawl = A[1]
local call, max, min, floor = redis.call, math.max, math.min, math.floor
local AGAIN, GRACE = 1000, 10000
local now = tonumber(ARGV[2])
if not now then
  local t = call('TIME')
  now = t[1] * 1000 + floor(t[2] / 1000)
end
-- a full Redis lets a script write that has written before
call('DEL', P .. 'oom')

-- of a turn {crawl, token of the lease or '' while it rests, until}, of who is next {crawl, until, since}
local function read(key)
  local text = call('GET', P .. key)
  return text and cmsgpack.unpack(text)
end

local function write(key, value, until_ms)
  call('SET', P .. key, cmsgpack.pack(value), 'PX', max(1, until_ms - now) + 1000)
end

-- Where nothing was sent the rest that was there before must last: until `due`, and also for this crawl, whose own
-- frontier does not know of it.
local function leave(name, token, due, until_ms)
  local turn = read('t:' .. name)
  if not turn or turn[1] ~= crawl or turn[2] ~= token then return end
  local whose = crawl
  if until_ms <= due then whose, until_ms = '', due end
  if until_ms > now then
    write('t:' .. name, { whose, '', until_ms }, until_ms)
  else
    call('DEL', P .. 't:' .. name)
  end
end

-- 0 when a request sent at `due` is ours to send, else when to ask again; since when we are next, and since when another
-- crawl is for which alone we have to wait
local function others_until(name, token, due)
  local turn, next_one = read('t:' .. name), read('n:' .. name)
  if turn and turn[2] == token then return 0 end
  if next_one and next_one[2] <= now then next_one = nil end
  local mine = next_one and next_one[1] == crawl and next_one[3] or nil
  if turn and turn[1] ~= crawl and turn[3] > due then
    local again = turn[2] == '' and turn[3] or min(turn[3], max(now, due) + AGAIN)
    if mine or not next_one then
      write('n:' .. name, { crawl, again + GRACE, mine or now }, again + GRACE)
    end
    return again
  end
  -- it was ours, or nobody's, and another crawl has waited for it
  if next_one and not mine then
    return max(now, due, turn and turn[2] == '' and turn[3] or 0) + AGAIN, nil, next_one
  end
  return 0, mine
end

-- Two crawls, of which one is next at the host and the other at its address, must not wait for each other: the one that
-- has waited longer goes first.
local function goes_first(mine, before)
  return not before or mine and (mine < before[3] or mine == before[3] and crawl < before[1])
end

local function asked(authority, address, token, due)
  local host_again, host_mine, host_before = others_until(authority, token, due)
  if address == '' then return host_again, 0 end
  local again, mine, before = others_until(address, token, due)
  local is_free = (host_again == 0 or host_before) and (again == 0 or before)
  if is_free and goes_first(mine, host_before) and goes_first(host_mine, before) then return 0, 0 end
  return host_again, again
end

local function take(name, token, until_ms)
  write('t:' .. name, { crawl, token, until_ms }, until_ms)
  local next_one = read('n:' .. name)
  if next_one and next_one[1] == crawl then call('DEL', P .. 'n:' .. name) end
end

for _, lease in ipairs(A[2]) do
  local token, due, authority, host_until, address, address_until = unpack(lease)
  if authority ~= '' then leave(authority, token, due, host_until) end
  if address ~= '' then leave(address, token, due, address_until) end
end

local answers = {}
for i, lease in ipairs(A[3]) do
  local token, due, expires, authority, host_until, address, address_until = unpack(lease)
  local host_again, address_again = now, 0 -- of a lease that has run out meanwhile
  if expires > now then host_again, address_again = asked(authority, address, token, due) end
  if host_again + address_again == 0 then
    take(authority, token, host_until)
    if address ~= '' then take(address, token, address_until) end
  else
    leave(authority, token, due, 0)
    if address ~= '' then leave(address, token, due, 0) end
  end
  answers[2 * i - 1], answers[2 * i] = host_again, address_again
end
return cmsgpack.pack(answers)
