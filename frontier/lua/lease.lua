-- Hand out URLs that are due. ARGV[2]: map limit, ahead, key (the tokens' second half), rows (only "expired").
-- returns {leases, now, next due or -1, budget spent or ''}; a lease: struct of number (the token's first half), due,
-- expires, robots version, lengths; authority, address it holds or '', element
-- Cost O((limit + expired) * log(authorities)); at most 64 expired leases and limit + 16 authorities newly due a call.
-- Atomic, so that of all workers one gets an authority, and one an address.

local horizon = now + A.ahead
local leases, granted = {}, 0
local LEASE = '<ddddHBc0c0c0'
local has_opt_outs = call('EXISTS', P .. 'optout') == 1
local sequence

local function collect_expired()
  local authorities = call('ZRANGEBYSCORE', P .. 'due', LEASED, whole(LEASED + now), 'LIMIT', 0, 64)
  if #authorities == 0 then return end
  read_texts(authorities)
  for _, authority in ipairs(authorities) do
    local record = load(authority)
    finish(authority, record, { r = 'expired', j = 1 }, A.rows.expired, record.l.expires)
  end
  flush_places()
end

local function spent_budget()
  local meta = call('HMGET', KEYS[1], 'pages', 'bytes', 'started', 'seq')
  sequence = tonumber(meta[4] or 0)
  if C.max_pages > 0 and tonumber(meta[1] or 0) + meta_add.pages >= C.max_pages then return 'pages' end
  if C.max_bytes > 0 and tonumber(meta[2] or 0) + meta_add.bytes >= C.max_bytes then return 'bytes' end
  if C.max_ms > 0 and meta[3] and now - tonumber(meta[3]) >= C.max_ms then return 'seconds' end
  return '', meta[3]
end

local function wants_robots(record, due)
  if not C.obey then return false end
  local left = record.rx - due
  if left <= 0 then return true end
  local window = min(C.robots_refresh, floor((record.rx - record.rv) / 4))
  return left < window and (record.o.rr or 0) <= due
end

local function is_opted_out(rules, element)
  local path = path_of(element)
  for _, rule in ipairs(rules) do
    if sub(path, 1, #rule) == rule then return true end
  end
  return false
end

-- element to fetch next ('' = robots.txt), nil when all it had was opted out
local function next_element(authority, record, due)
  local rules = has_opt_outs and call('HGET', P .. 'optout', authority)
  rules = rules and cmsgpack.unpack(rules) or nil
  if rules then
    for _, rule in ipairs(rules) do
      if rule == '' then
        local number = forget_urls(authority, record)
        if number > 0 then add(result_add, 'opted_out', number) end
        return nil
      end
    end
  end
  local hops = record.o.h
  if hops then
    record.o.h = hops > 1 and hops - 1 or nil
    return call('LPOP', P .. 'h:' .. authority)
  end
  if wants_robots(record, due) then return '' end
  unpark(authority, record, due)
  for _ = 1, 100 do
    local element = pop(authority, record)
    if not element then return nil end
    if not rules or not is_opted_out(rules, element) then return element end
    add(result_add, 'opted_out', 1)
  end
  return nil
end

local function grant(authority, record, ip, due)
  change(authority)
  local element = next_element(authority, record, due)
  if not element then
    place(authority, record)
    return false
  end
  sequence = sequence + 1
  local expires = due + C.lease
  local holds = 0
  if ip ~= '' then
    holds = 1
    if record.an < 0 then
      local state = load_address(ip)
      state.h, state.c = 1, true
    end
  end
  record.b, record.l = sequence, { due = due, expires = expires, key = A.key, holds = holds, element = element }
  due_of[authority] = LEASED + expires
  granted = granted + 1
  leases[granted] = pack_struct(LEASE, sequence, due, expires, record.rv, #authority, #ip, authority, ip, element)
  if C.audit then audit({ 'grant', token_of(record, record.l), authority, ip, due }) end
  return true
end

-- reason why its rules allow a host no more, nil when they do
local function spent_quota(record)
  local most_pages, most_bytes = record.o.mp or 0, record.o.mb or 0
  local bytes, pages = unpack_struct(COUNTS, record.cs)
  if most_pages > 0 and pages >= most_pages then return 'quota' end
  if most_bytes > 0 and bytes >= most_bytes then return 'quota_bytes' end
  return nil
end

-- when it may be granted, nil when not now
local function start_of(authority, record)
  if not record or record.l or record.o.z then return nil end
  local start = ready(record)
  local spent = start and start <= horizon and record.o ~= NO_OTHERS and spent_quota(record)
  if spent then
    rest(record, now + C.day, spent)
    change(authority)
    start = ready(record)
  end
  return start and start <= horizon and start or nil
end

local function try_address(ip)
  local unit, state = '@' .. ip, load_address(ip)
  hot_of[unit] = false
  if state.h == 1 then return end
  for _ = 1, 8 do
    if state.n > horizon then break end
    local head = call('ZPOPMIN', P .. 'w:' .. ip)
    if not head[1] then
      state.w, state.c = 0, true
      return
    end
    local authority, record = head[1], load(head[1])
    if record then
      record.o.w = nil
      change(authority)
    end
    local start = start_of(authority, record)
    if not start then
      if record then place(authority, record) end
    elseif record.ip ~= ip or record.ix <= now then
      hot_of[authority] = head[2]
    elseif grant(authority, record, ip, max(now, start, state.n)) then
      return
    end
  end
  if call('ZCARD', P .. 'w:' .. ip) > 0 then due_of[unit] = max(state.n, now) end
end

local function wait_for(ip, authority, record)
  call('ZADD', P .. 'w:' .. ip, whole(place_in_line(record)), authority)
  local state = load_address(ip)
  if state.w == 0 then state.w, state.c = 1, true end
  others_of(record).w = ip
  change(authority)
end

local function try_authority(authority)
  local record = load(authority)
  local start = start_of(authority, record)
  if not start then
    if record then place(authority, record) end
    return
  end
  local ip = record.ip
  if ip == '' or record.ix <= now then
    grant(authority, record, '', max(now, start))
    return
  end
  if record.an > horizon then
    place(authority, record)
    return
  elseif record.an >= 0 then
    grant(authority, record, ip, max(now, start, record.an))
    return
  end
  local state = load_address(ip)
  if state.h == 1 then
    wait_for(ip, authority, record)
  elseif state.w == 1 and call('EXISTS', P .. 'w:' .. ip) == 1 then
    wait_for(ip, authority, record)
    try_address(ip)
  elseif state.n > horizon then
    wait_for(ip, authority, record)
    due_of['@' .. ip] = state.n
  else
    grant(authority, record, ip, max(now, start, state.n))
  end
end

local function place_of_address(unit)
  local head = call('ZRANGE', P .. 'w:' .. sub(unit, 2), 0, 0, 'WITHSCORES')
  return head[2] and tonumber(head[2])
end

local function before(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return a[2] < b[2]
end

-- into line, or to where it belongs when it may not be granted now; line: list of {place in line, unit}
local function stand(line, authority, record)
  if start_of(authority, record) then
    unpark(authority, record, horizon)
    due_of[authority] = false
    line[#line + 1] = { place_in_line(record), authority }
  elseif record then
    place(authority, record)
  end
end

-- those that no call has looked at yet; a host that people or robots.txt led elsewhere before is there already
local function meet(line)
  local authorities = call('LRANGE', P .. 'new', 0, A.limit + 15)
  if not authorities[1] then return end
  call('LTRIM', P .. 'new', #authorities, -1)
  call('RPUSH', P .. 'known', unpack(authorities))
  read_texts(authorities)
  for _, authority in ipairs(authorities) do
    local record = load(authority)
    if record and record.b == 0 and due_of[authority] == nil then stand(line, authority, record) end
  end
end

-- what is newly due
local function promote(line)
  local units = call('ZRANGEBYSCORE', P .. 'due', '-inf', horizon, 'LIMIT', 0, A.limit + 16)
  read_texts(units)
  for i = 1, #units do
    local unit = units[i]
    local text = texts[unit]
    local score
    due_of[unit] = false
    if byte(unit) == AT then
      score = place_of_address(unit)
    elseif text and records[unit] == nil then
      score = score_in(text)
    end
    if score then
      line[#line + 1] = { score, unit }
    elseif byte(unit) ~= AT then
      stand(line, unit, load(unit))
    end
  end
end

-- who is tried now, in order, and whether they stand in line: what is newly due, when nobody else stands there and all of
-- it can be granted (as in most calls of most crawls); else the head of the line that it has joined
local function candidates()
  local fresh, units = {}, {}
  promote(fresh)
  meet(fresh)
  if #fresh <= A.limit and call('EXISTS', P .. 'hot') == 0 then
    table.sort(fresh, before)
    for i = 1, #fresh do units[i] = fresh[i][2] end
    return units, false
  end
  for i = 1, #fresh do hot_of[fresh[i][2]] = fresh[i][1] end
  flush_places()
  return call('ZRANGE', P .. 'hot', 0, A.limit + 15), true
end

-- what is needed of those that are likely to be granted, in two calls
local function read_ahead(units)
  local ips, number = {}, min(A.limit, #units)
  read_texts(units, number)
  for i = 1, number do
    local unit = units[i]
    local record = byte(unit) ~= AT and load(unit)
    if record and record.an < 0 and record.ip ~= '' and not addresses[record.ip] then ips[#ips + 1] = record.ip end
  end
  load_addresses(ips)
end

local function grant_all()
  local units, in_line = candidates()
  read_ahead(units)
  for i = 1, #units do
    if granted == A.limit then return end
    local unit = units[i]
    if in_line then hot_of[unit] = false end
    if byte(unit) == AT then try_address(sub(unit, 2)) else try_authority(unit) end
  end
end

call('DEL', P .. 'oom') -- a write that the memory limit lets pass makes the rest of the script exempt from it
collect_expired()
local closed, started = spent_budget()
if closed == '' then
  grant_all()
  if granted > 0 then
    if not started then call('HSET', KEYS[1], 'started', now) end
    call('HSET', KEYS[1], 'seq', sequence)
  end
end
commit()
local next_due = -1
if closed == '' then
  if call('EXISTS', P .. 'hot', P .. 'new') > 0 then
    next_due = now
  else
    local head = call('ZRANGE', P .. 'due', 0, 0, 'WITHSCORES')
    if head[2] and tonumber(head[2]) < LEASED then next_due = max(now, tonumber(head[2])) end
  end
end
return cmsgpack.pack({ leases, now, next_due, closed })
