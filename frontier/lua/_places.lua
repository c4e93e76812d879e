-- Places in line, politeness, and the writing of everything that changed.

-- earliest instant of its next lease, nil when it has nothing to fetch
local function ready(record)
  local others, start = record.others, start_by(record.next_ms, record.address_next_ms, record.address_until_ms)
  if others == NO_OTHERS then return record.queued > 0 and start or nil end
  start = max(start, others.g or 0)
  if others.h then return start end
  if record.queued > 0 then
    start = max(start, others.rg or 0)
  elseif others.pm then
    start = max(start, others.rg or 0, others.pm)
  else
    return nil
  end
  if SETTINGS.obey and record.robots_expires_ms <= start then start = max(start, others.rr or 0) end
  return start
end

local function schedule(authority, record)
  if record.lease then
    due_of[authority] = LEASED + record.lease.expires
  else
    due_of[authority] = not record.others.z and ready(record) or false
  end
end

-- out of line, and to where it belongs now
local function reschedule(authority, record)
  hot_of[authority] = false
  local ip = record.others.w
  if ip then
    call('ZREM', PREFIX .. 'w:' .. ip, authority)
    record.others.w = nil
    hot_of['@' .. ip], due_of['@' .. ip] = false, now -- it stood in line where this authority did, perhaps
    mark_changed(authority)
  end
  schedule(authority, record)
end

-- leases --------------------------------------------------------------------------------------------------------------

-- the record of the authority when the lease `number`, `key` (the halves of its token) still holds it
local function leased(authority, number, key)
  local record = load_record(authority)
  local lease = record and record.lease
  if lease and record.served == number and lease.key == key and lease.expires > now then return record end
  return nil
end

-- the lease and the address it holds or ''; the record is free
local function end_lease(authority, record)
  local lease = record.lease
  record.lease = nil
  mark_changed(authority)
  return lease, lease.holds == 1 and record.address or ''
end

local function token_of(record, lease)
  return string.format('%x-%08x', record.served, lease.key)
end

-- the address of a lease that ended has become free: the best of those that wait for it goes into line
local function free_address(record, ip)
  if record.address_next_ms >= 0 then return end
  local state = load_address(ip)
  state.held, state.changed = 0, true
  if state.waited_for == 1 then
    if call('EXISTS', PREFIX .. 'w:' .. ip) == 1 then due_of['@' .. ip] = state.next_ms else state.waited_for = 0 end
  end
end

-- politeness ---------------------------------------------------------------------------------------------------------

local function rest(record, until_ms, reason)
  local others = others_of(record)
  if until_ms > (others.g or 0) then others.g, others.gr = until_ms, reason end
end

-- writing ------------------------------------------------------------------------------------------------------------

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
    call('ZREM', PREFIX .. key, unpack(removes, i, min(i + 3999, removed)))
  end
  for i = 1, added, 4000 do
    call('ZADD', PREFIX .. key, unpack(adds, i, min(i + 3999, added)))
  end
end

local function flush_places()
  flush_zset('due', due_of)
  flush_zset('hot', hot_of)
  due_of, hot_of = {}, {}
end

local function commit()
  write_records()
  write_visits()
  flush_places()
  flush_zset('unparks', unparks_of)
  for i = 1, #new_add, 4000 do
    call('RPUSH', PREFIX .. 'new', unpack(new_add, i, min(i + 3999, #new_add)))
  end
  for name, number in pairs(reason_add) do
    if number ~= 0 and call('HINCRBY', PREFIX .. 'reasons', name, number) == 0 then
      call('HDEL', PREFIX .. 'reasons', name)
    end
  end
end
