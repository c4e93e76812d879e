-- End and take turns at hosts and addresses, with crawls of other names. KEYS[1]: prefix of all turns (see
-- frontier/turns.py). ARGV[1]: {crawl, warnings, ends, asks}; the others: _clock.lua.
--   warnings {token, authority, for how long its server has asked to be left alone}, ...
--   ends {token, due, authority or '', when others may ask it, until when its server has asked to be left alone or 0,
--     address or '', when others may ask that, authority whose robots.txt has not answered or '', when to ask for that
--     again or 0}, ...
--   asks {token, due, expires, authority, delay after it, address or '', delay after it, until when the rules hold that
--     it is to replace or -1 when it is not for robots.txt}, ...
-- returns for each of asks three instants from which on to ask again for the host, for the address, for robots.txt alone
-- since its rules still hold: 0, 0, 0 when the turns are taken. When not, none is: a turn that the lease has had before
-- is ended, too.
-- Cost O(ends + asks). Atomic, so that one crawl has the turn, at host and address alike, and nobody ends the turn of a
-- later lease.

local P, A = KEYS[1], cmsgpack.unpack(ARGV[1])
local crawl = A[1]
local call, max, min, floor = redis.call, math.max, math.min, math.floor
local AGAIN, GRACE, DAY = 1000, 10000, 86400000
-- a full Redis lets a script write that has written before
call('DEL', P .. 'oom')

-- of a turn {crawl, token of the lease or '' while it rests, until, delay after a lease, until when the server has
-- asked to be left alone}, of who is next {crawl, until, since}, of a robots.txt {crawl, until}
local known = {}

local function read(key)
  local value = known[key]
  if value == nil then
    local text = call('GET', P .. key)
    value = text and cmsgpack.unpack(text)
    known[key] = value
  end
  return value
end

local function write(key, value, until_ms)
  known[key] = value
  call('SET', P .. key, cmsgpack.pack(value), 'PX', max(1, until_ms - now) + 1000)
end

local function forget(key)
  known[key] = false
  call('DEL', P .. key)
end

local function asked_for(turn)
  local until_ms = turn and turn[5] or 0
  return until_ms > now and until_ms or 0
end

-- Where nothing was sent the rest that was there before must last: until `due`, and also for this crawl, whose own
-- frontier does not know of it.
local function leave(name, token, due, until_ms, asked)
  local key = 't:' .. name
  local turn = read(key)
  if not turn or turn[1] ~= crawl or turn[2] ~= token then return end
  local whose = crawl
  asked = max(asked, asked_for(turn))
  if max(until_ms, asked) <= due then whose, until_ms, asked = '', due, 0 end
  if asked > now then
    write(key, { whose, '', until_ms, 0, asked }, max(until_ms, asked))
  elseif until_ms > now then
    write(key, { whose, '', until_ms }, until_ms)
  else
    forget(key)
  end
end

-- when a crawl with such a `delay` may ask after the turn of another: after a lease that nobody has ended, both rest
local function free_at(turn, delay)
  local until_ms = turn[3]
  if turn[2] ~= '' then until_ms = until_ms + max(turn[4] or 0, delay) end
  return max(until_ms, turn[5] or 0)
end

-- 0 when a request sent at `due` is ours to send, else when to ask again; since when we are next, and since when another
-- crawl is for which alone we have to wait
local function others_until(name, token, due, delay)
  local turn, next_one = read('t:' .. name), read('n:' .. name)
  if turn and turn[2] == token then return 0 end
  if next_one and next_one[2] <= now then next_one = nil end
  local mine = next_one and next_one[1] == crawl and next_one[3] or nil
  local free = turn and turn[1] ~= crawl and free_at(turn, delay) or 0
  -- where TIME was set forward, or may just have been, Redis has dropped turns: one that is not there may have ended now
  local dropped = clock.late > 0 and now or clock.jumped
  if not turn and dropped >= 0 then free = dropped + delay end
  if free > due then
    local again = free
    -- its lease may end at any time
    if turn and turn[2] ~= '' and turn[3] > now then again = max(min(free, max(now, due) + AGAIN), asked_for(turn)) end
    if mine or not next_one then
      write('n:' .. name, { crawl, again + GRACE, mine or now }, again + GRACE)
    end
    return again
  end
  -- it was ours, or nobody's, and another crawl has waited for it; while the server's word to us keeps all others away
  -- none is waited for, if ours comes all the same
  if next_one and not mine and asked_for(turn) <= due then
    return max(now, due, turn and turn[2] == '' and turn[3] or 0) + AGAIN, nil, next_one
  end
  return 0, mine
end

-- Two crawls, of which one is next at the host and the other at its address, must not wait for each other: the one that
-- has waited longer goes first.
local function goes_first(mine, before)
  return not before or mine and (mine < before[3] or mine == before[3] and crawl < before[1])
end

local function again_at(authority, delay, address, address_delay, token, due)
  local host_again, host_mine, host_before = others_until(authority, token, due, delay)
  if address == '' then return host_again, 0 end
  local again, mine, before = others_until(address, token, due, address_delay)
  local is_free = (host_again == 0 or host_before) and (again == 0 or before)
  if is_free and goes_first(mine, host_before) and goes_first(host_mine, before) then return 0, 0 end
  return host_again, again
end

-- 0 when a robots.txt may be asked for, else until when it rests since it did not answer another crawl
local function robots_until(authority, due)
  local waits = read('r:' .. authority)
  return waits and waits[1] ~= crawl and waits[2] > due and waits[2] or 0
end

-- A lease that nobody ends is known for a day, since the next crawl may know of a longer delay.
local function take(name, token, expires, delay)
  local left_alone = asked_for(read('t:' .. name))
  local turn = { crawl, token, expires, delay }
  if left_alone > 0 then turn[5] = left_alone end
  write('t:' .. name, turn, max(expires + delay + DAY, left_alone))
  local next_one = read('n:' .. name)
  if next_one and next_one[1] == crawl then forget('n:' .. name) end
end

for _, warning in ipairs(A[2]) do
  local token, authority, rest_ms = unpack(warning)
  local turn = read('t:' .. authority)
  if turn and turn[1] == crawl and turn[2] == token then
    turn[5] = max(asked_for(turn), now + rest_ms)
    write('t:' .. authority, turn, max(turn[3] + turn[4] + DAY, turn[5]))
  end
end

for _, lease in ipairs(A[3]) do
  local token, due, authority, host_until, asked, address, address_until, origin, robots_again = unpack(lease)
  if authority ~= '' then leave(authority, token, due, host_until, asked) end
  if address ~= '' then leave(address, token, due, address_until, 0) end
  if origin ~= '' then
    -- of a lease that is told of late: what another crawl has found since stays
    local waits = read('r:' .. origin)
    local others = waits and waits[1] ~= crawl and waits[2] or 0
    if robots_again > max(now, others) then
      write('r:' .. origin, { crawl, robots_again }, robots_again)
    elseif waits and others == 0 then
      forget('r:' .. origin)
    end
  end
end

local answers = {}
for i, lease in ipairs(A[4]) do
  local token, due, expires, authority, delay, address, address_delay, rules_until = unpack(lease)
  local host_again, address_again, robots_again = now, 0, 0 -- of a lease that has run out meanwhile
  if expires > now then
    host_again, address_again = again_at(authority, delay, address, address_delay, token, due)
    if rules_until >= 0 then robots_again = robots_until(authority, due) end
    if rules_until <= due then host_again, robots_again = max(host_again, robots_again), 0 end
  end
  if host_again + address_again + robots_again == 0 then
    take(authority, token, expires, delay)
    if address ~= '' then take(address, token, expires, address_delay) end
  else
    leave(authority, token, due, 0, 0)
    if address ~= '' then leave(address, token, due, 0, 0) end
  end
  answers[3 * i - 2], answers[3 * i - 1], answers[3 * i] = host_again, address_again, robots_again
end
return cmsgpack.pack(answers)
