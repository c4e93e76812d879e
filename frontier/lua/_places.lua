-- Places in line, politeness, and the writing of everything that changed.

-- earliest instant of its next lease, nil when it has nothing to fetch
local function ready(record)
  local others, start, own = record.o, record.n, record.an
  -- at the end of its validity the address is asked for anew, and may be another
  if own > start then start = max(start, min(own, record.ix)) end
  if others == NO_OTHERS then return record.qn > 0 and start or nil end
  start = max(start, others.g or 0)
  if others.h then return start end
  if record.qn > 0 then
    start = max(start, others.rg or 0)
  elseif others.pm then
    start = max(start, others.rg or 0, others.pm)
  else
    return nil
  end
  if C.obey and record.rx <= start then start = max(start, others.rr or 0) end
  return start
end

local function place(authority, record)
  if record.l then
    due_of[authority] = LEASED + record.l.expires
  else
    due_of[authority] = not record.o.z and ready(record) or false
  end
end

-- out of line, and to where it belongs now
local function replace(authority, record)
  hot_of[authority] = false
  if record.o.w then
    call('ZREM', P .. 'w:' .. record.o.w, authority)
    record.o.w = nil
    change(authority)
  end
  place(authority, record)
end

-- leases ---------------------------------------------------------------------------------------------------------------

-- the record of the authority when the lease `number`, `key` (the halves of its token) still holds it
local function leased(authority, number, key)
  local record = load(authority)
  local lease = record and record.l
  if lease and record.b == number and lease.key == key and lease.expires > now then return record end
  return nil
end

-- the lease and the address it holds or ''; the record is free
local function end_lease(authority, record)
  local lease = record.l
  record.l = nil
  changed_records[authority] = true
  return lease, lease.holds == 1 and record.ip or ''
end

local function token_of(record, lease)
  return string.format('%x-%08x', record.b, lease.key)
end

-- the address of a lease that ended has become free: the best of those that wait for it goes into line
local function free_address(record, ip)
  if record.an >= 0 then return end
  local state = load_address(ip)
  state.h, state.c = 0, true
  if state.w == 1 then
    if call('EXISTS', P .. 'w:' .. ip) == 1 then due_of['@' .. ip] = state.n else state.w = 0 end
  end
end

-- politeness ---------------------------------------------------------------------------------------------------------

local DELAY, ADDRESS_DELAY, FACTOR, ADAPTIVE_CAP = C.delay, C.address_delay, C.factor, C.adaptive_cap

-- delay of the authority, of its address
local function delays_of(record)
  local others, adaptive = record.o, FACTOR * record.lf
  adaptive = adaptive < ADAPTIVE_CAP and floor(adaptive) or ADAPTIVE_CAP
  local delay, address_delay = others.dl or DELAY, others.al or ADDRESS_DELAY
  local crawl_delay = others.cd
  if crawl_delay and crawl_delay > delay then delay = crawl_delay end
  return adaptive > delay and adaptive or delay, adaptive > address_delay and adaptive or address_delay
end

local function backoff(base, cap, doublings, jitter)
  local whole = base
  if cap > 0 then whole = min(cap, base * 2 ^ min(doublings, 20)) end
  return floor(whole / 2 + whole / 2 * jitter)
end

local function forgiven(record)
  return max(0, (record.o.f or 0) - floor(max(0, now - (record.o.ft or 0)) / C.forgive))
end

local function rest(record, until_ms, reason)
  local others = others_of(record)
  if until_ms > (others.g or 0) then others.g, others.gr = until_ms, reason end
end

-- writing ------------------------------------------------------------------------------------------------------------

-- a whole number as Redis wants it; Redis itself would write it as a fraction first, at five times the cost
local function whole(number)
  return string.format('%d', number)
end

local function flush_zset(key, wanted)
  local adds, removes, added, removed = {}, {}, 0, 0
  for member, score in pairs(wanted) do
    if score then
      adds[added + 1], adds[added + 2] = whole(score), member
      added = added + 2
    else
      removed = removed + 1
      removes[removed] = member
    end
  end
  for i = 1, removed, 4000 do
    call('ZREM', P .. key, unpack(removes, i, min(i + 3999, removed)))
  end
  for i = 1, added, 4000 do
    call('ZADD', P .. key, unpack(adds, i, min(i + 3999, added)))
  end
end

local function flush_places()
  flush_zset('due', due_of)
  flush_zset('hot', hot_of)
  due_of, hot_of = {}, {}
end

local function commit()
  local sets, number = {}, 0
  for authority in pairs(changed_records) do
    local record = records[authority]
    if record.b == 0 then
      set_newcomer(authority, encode_record(record))
    else
      sets[number + 1], sets[number + 2] = A_PREFIX .. authority, encode_record(record)
      number = number + 2
      if not texts[authority] then set_newcomer(authority, '') end -- until now it was one
    end
  end
  write_buckets()
  for ip, state in pairs(addresses) do
    if state.c then
      sets[number + 1], sets[number + 2] = I_PREFIX .. ip, pack_struct(ADDRESS, state.w, state.h, state.n)
      number = number + 2
    end
  end
  for i = 1, number, 4000 do
    call('MSET', unpack(sets, i, min(i + 3999, number)))
  end
  flush_places()
  flush_zset('unparks', unparks_of)
  for i = 1, #new_add, 4000 do
    call('RPUSH', P .. 'new', unpack(new_add, i, min(i + 3999, #new_add)))
  end
  for name, number in pairs(meta_add) do
    if number ~= 0 then call('HINCRBY', KEYS[1], name, number) end
  end
  for name, number in pairs(result_add) do
    call('HINCRBY', P .. 'results', name, number)
  end
  for name, number in pairs(reason_add) do
    if number ~= 0 and call('HINCRBY', P .. 'reasons', name, number) == 0 then
      call('HDEL', P .. 'reasons', name)
    end
  end
end
