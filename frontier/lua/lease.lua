-- Hand out URLs that are due. ARGV[2]: map limit, ahead, key (the tokens' second half), rows (only "expired").
-- returns {leases, now, next due or -1, budget spent or ''}; leases: number (the token's first half), authority, element,
-- address it holds or '', due, expires, robots version, ...
-- Cost O((limit + expired) * log(authorities)); at most 64 expired leases and limit + 16 authorities newly due a call.
-- Atomic, so that of all workers one gets an authority, and one an address.

local horizon = now + A.ahead
local leases, granted = {}, 0
local has_opt_outs = call('EXISTS', P .. 'optout') == 1
local sequence
local from_due = {} -- units that this call found in 'due', not in 'hot'

local function collect_expired()
  local authorities = call('ZRANGEBYSCORE', P .. 'due', LEASED, whole(LEASED + now), 'LIMIT', 0, 64)
  if #authorities == 0 then return end
  read_texts(authorities)
  for _, authority in ipairs(authorities) do
    local record = load(authority)
    finish(authority, record, { r = 'expired', j = 1 }, A.rows.expired, record.ex)
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

local function leave(unit)
  if from_due[unit] then due_of[unit] = false else hot_of[unit] = false end
end

local function grant(authority, record, ip, due)
  change(authority)
  leave(authority)
  local element = next_element(authority, record, due)
  if not element then
    place(authority, record)
    return false
  end
  sequence = sequence + 1
  local expires = due + C.lease
  record.b, record.tk, record.el, record.du, record.ex, record.hd = sequence, A.key, element, due, expires, 0
  due_of[authority] = LEASED + expires
  if ip ~= '' then
    record.hd, load_address(ip).h = 1, 1
    changed_addresses[ip] = true
  end
  local last = 7 * granted
  leases[last + 1], leases[last + 2], leases[last + 3], leases[last + 4] = sequence, authority, element, ip
  leases[last + 5], leases[last + 6], leases[last + 7] = due, expires, record.rv
  granted = granted + 1
  if C.audit then audit({ 'grant', token_of(record), authority, ip, due }) end
  return true
end

-- reason why its rules allow a host no more, nil when they do
local function spent_quota(record)
  local pages, bytes = record.o.mp or 0, record.o.mb or 0
  if pages > 0 and record.pg >= pages then return 'quota' end
  if bytes > 0 and record.by >= bytes then return 'quota_bytes' end
  return nil
end

-- common checks; true when it may be granted now
local function is_ready(authority, record)
  if not record or record.el or record.o.z then
    leave(authority)
    if record then place(authority, record) end
    return false
  end
  local start = ready(record)
  local spent = start and start <= horizon and record.o ~= NO_OTHERS and spent_quota(record)
  if spent then
    rest(record, now + C.day, spent)
    change(authority)
    start = ready(record)
  end
  if start and start <= horizon then return true, start end
  leave(authority)
  if start then due_of[authority] = start end
  return false
end

local function try_address(ip)
  local unit, state = '@' .. ip, load_address(ip)
  leave(unit)
  if state.h == 1 then return end
  for _ = 1, 8 do
    if state.n > horizon then break end
    local head = call('ZPOPMIN', P .. 'w:' .. ip)
    if not head[1] then
      state.w = 0
      changed_addresses[ip] = true
      return
    end
    local authority, record = head[1], load(head[1])
    if record then
      record.o.w = nil
      change(authority)
    end
    local may, start = is_ready(authority, record)
    if may and not (record.ip == ip and record.ix > now) then
      hot_of[authority] = head[2]
    elseif may and grant(authority, record, ip, max(now, start, state.n)) then
      return
    end
  end
  if call('ZCARD', P .. 'w:' .. ip) > 0 then due_of[unit] = max(state.n, now) end
end

local function wait_for(ip, authority, record, score)
  call('ZADD', P .. 'w:' .. ip, score, authority)
  leave(authority)
  local state = load_address(ip)
  if state.w == 0 then
    state.w = 1
    changed_addresses[ip] = true
  end
  others_of(record).w = ip
  change(authority)
end

local function try_authority(authority, score)
  local record = load(authority)
  local may, start = is_ready(authority, record)
  if not may then return end
  local ip = record.ip
  if not ip or record.ix <= now then
    grant(authority, record, '', max(now, start))
    return
  end
  local state = load_address(ip)
  if state.h == 1 then
    wait_for(ip, authority, record, score)
  elseif state.w == 1 and call('EXISTS', P .. 'w:' .. ip) == 1 then
    wait_for(ip, authority, record, score)
    try_address(ip)
  elseif state.n > horizon then
    wait_for(ip, authority, record, score)
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

-- what is newly due: list of {place in line, unit}, in order
local function promote()
  local fresh, authorities, number = {}, {}, 0
  local units = call('ZRANGEBYSCORE', P .. 'due', '-inf', horizon, 'LIMIT', 0, A.limit + 16)
  for i = 1, #units do
    local unit = units[i]
    from_due[unit] = true
    if byte(unit) ~= 64 then
      number = number + 1
      authorities[number] = unit
    end
  end
  read_texts(authorities)
  for _, unit in ipairs(units) do
    local text, score = texts[unit], nil
    if byte(unit) == 64 then
      score = place_of_address(unit)
      if not score then due_of[unit] = false end
    elseif text and records[unit] == nil then
      score = score_in(text)
    end
    if not score and byte(unit) ~= 64 then
      local record = load(unit)
      if is_ready(unit, record) then
        unpark(unit, record, horizon)
        score = best_band(record) * BAND_UNIT + record.b
      end
    end
    if score then fresh[#fresh + 1] = { score, unit } end
  end
  table.sort(fresh, before)
  return fresh
end

-- what stands in line: the same
local function waiting_in_line()
  local line, authorities, number = {}, {}, 0
  local members = call('ZRANGE', P .. 'hot', 0, A.limit + 7, 'WITHSCORES')
  for i = 1, #members, 2 do
    local unit = members[i]
    line[(i + 1) / 2] = { tonumber(members[i + 1]), unit }
    if byte(unit) ~= 64 then
      number = number + 1
      authorities[number] = unit
    end
  end
  read_texts(authorities)
  return line
end

local function grant_all()
  local fresh, line = promote(), waiting_in_line()
  local f, l = 1, 1
  while granted < A.limit and (fresh[f] or line[l]) do
    local candidate
    if not line[l] or (fresh[f] and before(fresh[f], line[l])) then
      candidate, f = fresh[f], f + 1
    else
      candidate, l = line[l], l + 1
    end
    if byte(candidate[2]) == 64 then
      try_address(sub(candidate[2], 2))
    else
      try_authority(candidate[2], candidate[1])
    end
  end
  for i = f, #fresh do
    local score, unit = fresh[i][1], fresh[i][2]
    if due_of[unit] == nil and hot_of[unit] == nil then due_of[unit], hot_of[unit] = false, score end
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
  if call('EXISTS', P .. 'hot') == 1 then
    next_due = now
  else
    local head = call('ZRANGE', P .. 'due', 0, 0, 'WITHSCORES')
    if head[2] and tonumber(head[2]) < LEASED then next_due = max(now, tonumber(head[2])) end
  end
end
return cmsgpack.pack({ leases, now, next_due, closed })
