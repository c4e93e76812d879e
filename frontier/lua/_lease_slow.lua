-- The slow way of lease.lua: everything that a lease may need, on whole records.

local function collect_expired(authorities)
  read_texts(authorities)
  for _, authority in ipairs(authorities) do
    local record = load_record(authority)
    finish(authority, record, { result = 'expired', jitter = 1 }, SETTINGS.expired, record.lease.expires)
  end
  flush_places()
end

local function unescaped(path)
  return (string.gsub(path, '%%(%x%x)', function(digits) return string.char(tonumber(digits, 16)) end))
end

-- whether it is the list of path prefixes that RedisOptOuts writes
local function is_rules(unpacked, rules)
  if not unpacked or type(rules) ~= 'table' or #rules == 0 then return false end
  for i = 1, #rules do
    if type(rules[i]) ~= 'string' then return false end
  end
  return true
end

-- path prefixes of an authority, of all tables, unescaped; nil where they are damaged, which is noted
local function opt_out_rules(authority)
  local rules = {}
  for i = 1, #opt_outs do
    local found = call('HGET', opt_outs[i], authority)
    if found then
      local unpacked, more = pcall(cmsgpack.unpack, found)
      if not is_rules(unpacked, more) then
        opt_outs.damaged = { opt_outs[i], authority }
        return nil
      end
      for _, rule in ipairs(more) do rules[#rules + 1] = unescaped(rule) end
    end
  end
  return rules
end

-- as lies_under of frontier/opt_outs.py
local function is_opted_out(rules, element)
  if #rules == 0 then return false end
  local path = unescaped(path_of(element))
  for _, prefix in ipairs(rules) do
    if sub(path, 1, #prefix) == prefix then return true end
  end
  return false
end

-- element to fetch next ('' = robots.txt), nil when all it had was opted out, or may be, or no page embeds it and it is
-- narrowed to what pages embed, or its rules do not hold then and may be asked for only later
local function next_element(authority, record, due, narrowed)
  local rules = opt_out_rules(authority)
  if not rules then return nil end
  for _, rule in ipairs(rules) do
    if rule == '' then
      local number = forget_urls(authority, record)
      if number > 0 then add(result_add, 'opted_out', number) end
      return nil
    end
  end
  local hops = record.others.h
  if hops then
    record.others.h = hops > 1 and hops - 1 or nil
    return call('LPOP', PREFIX .. 'h:' .. authority)
  end
  if narrowed and not embedded.is_first(authority, record) then return nil end
  local retry_ms = record.others.rr or 0
  if robots_wanted(record.robots_ms, record.robots_expires_ms, retry_ms, due) then
    if retry_ms <= due then return '' end
    -- its rules have ended since it was ready, or will before its address is free
    record.next_ms = max(record.next_ms, record.robots_expires_ms)
    return nil
  end
  unpark(authority, record, due)
  for _ = 1, SETTINGS.opted_out_at_once do
    if narrowed and not embedded.is_first(authority, record) then return nil end
    local element = pop(authority, record, narrowed)
    if not element then return nil end
    if not is_opted_out(rules, element) then return element end
    add(result_add, 'opted_out', 1)
  end
  return nil
end

-- reason why its rules allow a host no more, nil when they do; that of pages last: it may leave what pages embed
local function spent_quota(record)
  local most_pages, most_bytes = record.others.mp or 0, record.others.mb or 0
  if most_pages == 0 and most_bytes == 0 then return nil end
  local bytes, pages = counts_of(record)
  if most_bytes > 0 and bytes >= most_bytes then return 'quota_bytes' end
  if most_pages > 0 and pages >= most_pages then return 'quota' end
  return nil
end

local function grant(authority, record, ip, due)
  mark_changed(authority)
  local spent, narrowed, until_ms = spent_quota(record), line.narrowed, now + SETTINGS.day
  if spent == 'quota' and SETTINGS.requisites then
    narrowed = true
    if embedded.is_first(authority, record) then
      spent = nil
    else
      local parked = embedded.parked_until(authority, record)
      if parked and parked < until_ms then until_ms = parked end
    end
  end
  if spent then rest(record, until_ms, spent) end
  local element = not spent and next_element(authority, record, due, narrowed)
  if not element then
    schedule(authority, record)
    return false
  end
  sequence = sequence + 1
  local holds = 0
  if ip ~= '' then
    holds = 1
    if record.address_next_ms < 0 then
      local state = load_address(ip)
      state.held, state.changed = 1, true
    end
  end
  record.served = sequence
  record.lease = { due = due, expires = due + SETTINGS.lease, key = ARGS.key, holds = holds, element = element }
  due_of[authority] = nil
  hand_out(authority, text_to_write(authority, record), due)
  if SETTINGS.audit then audit({ 'grant', token_of(record, record.lease), authority, ip, due }) end
  return true
end

-- when it may be granted, nil when not now
local function start_of(record)
  if not record or record.lease or record.others.z then return nil end
  local start = ready(record)
  return start and start <= horizon and start or nil
end

-- where it stands in line; nil for an address that nobody waits for any more
local function place_of(waiter)
  if sub(waiter, 1, 1) ~= '@' then return place_in_line(load_record(waiter)) end
  return tonumber(call('ZRANGE', PREFIX .. 'w:' .. sub(waiter, 2), 0, 0, 'WITHSCORES')[2])
end

-- who is to be tried again before this waiter is tried; nil when nobody is
local function again_before(waiter)
  local first = line.again[1]
  if waiter and (place_of(waiter) or 0) < first.place then return nil end
  table.remove(line.again, 1)
  return first.waiter
end

-- The best of those that wait for it. When there is nothing of that one to be had, as where it has opted out, the next has
-- its turn in this call, too, but where it stands in line.
local function try_address(ip)
  local key, waiter, state = PREFIX .. 'w:' .. ip, '@' .. ip, load_address(ip)
  hot_of[waiter] = false
  if state.held == 1 then return end
  local head = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  local authority, place = head[1], tonumber(head[2])
  if not place then
    state.waited_for, state.changed = 0, true
  elseif state.next_ms > horizon or line.narrowed and place >= line.bound then
    due_of[waiter] = max(state.next_ms, now)
  elseif place >= line.bound then
    hot_of[waiter] = place
  else
    local record = load_record(authority)
    call('ZREM', key, authority)
    if record then
      record.others.w = nil
      mark_changed(authority)
    end
    local start = start_of(record)
    if not start then
      if record then schedule(authority, record) end
    elseif record.address ~= ip or record.address_until_ms <= now then
      hot_of[authority] = place
    elseif grant(authority, record, ip, max(now, start, state.next_ms)) then
      return
    end
    place = place_of(waiter)
    if place and not line.try_again(waiter, place) then due_of[waiter] = now end
  end
end

-- When it must be looked at though it stands in line, since that may last: what it has parked may be worth more. Not at
-- once where more is due than comes at a time: thousands of it would keep all others from their places in line.
local function look_again(record, start)
  local first = record.others.pm
  if not first or not line.is_least(place_in_line(record)) then return false end
  return first > start and first or now + SETTINGS.more
end

local function wait_for(ip, authority, record)
  call('ZADD', PREFIX .. 'w:' .. ip, whole(place_in_line(record)), authority)
  local state = load_address(ip)
  if state.waited_for == 0 then state.waited_for, state.changed = 1, true end
  others_of(record).w = ip
  mark_changed(authority)
end

local function try_authority(authority)
  local record = load_record(authority)
  local start = start_of(record)
  if not start then
    if record then schedule(authority, record) end
    return
  end
  local ip = record.address
  if ip == '' or record.address_until_ms <= now then
    grant(authority, record, '', max(now, start))
    return
  end
  if record.address_next_ms > horizon then
    schedule(authority, record)
    return
  elseif record.address_next_ms >= 0 then
    grant(authority, record, ip, max(now, start, record.address_next_ms))
    return
  end
  local state = load_address(ip)
  if state.held == 1 then
    wait_for(ip, authority, record)
  elseif state.waited_for == 1 and call('EXISTS', PREFIX .. 'w:' .. ip) == 1 then
    wait_for(ip, authority, record)
    try_address(ip)
  elseif state.next_ms > horizon then
    wait_for(ip, authority, record)
    due_of['@' .. ip] = state.next_ms
  else
    grant(authority, record, ip, max(now, start, state.next_ms))
  end
end

-- into line, or to where it belongs when it may not be granted now
local function line_up(authority)
  local record = load_record(authority)
  local start = start_of(record)
  if start then
    start = max(now, start)
    unpark(authority, record, start)
    reschedule(authority, record)
    due_of[authority] = look_again(record, start)
    line.join(authority, place_in_line(record))
  elseif record then
    schedule(authority, record)
  end
end

local function read_new(authorities)
  call('LTRIM', PREFIX .. 'new', #authorities, -1)
  call('RPUSH', PREFIX .. 'known', unpack(authorities))
  read_texts(authorities)
  read_buckets(authorities)
end

-- those that no call has looked at yet; a host that people or robots.txt led elsewhere before is there already
local function line_up_new(authorities)
  read_new(authorities)
  for _, authority in ipairs(authorities) do
    local score = not texts[authority] and records[authority] == nil and newcomer_score(authority)
    if score then
      line.join(authority, score)
    elseif due_of[authority] == nil then
      local record = load_record(authority)
      if record and record.served == 0 then line_up(authority) end
    end
  end
end
