-- The end of a lease, reported or expired; put behind _common.lua where leases end. Same steps as frontier/reports.py.
--
-- outcome: map r result, f fetch_ms, j jitter, ra Retry-After, b bytes, w words, m memo, ag again_in, mk page mark,
-- ro robots kind, rb body, re expires_in, cd crawl delay, ht/hw/hr authority, whole bit and rest of a redirect.
-- rule: array sent, retries, base, cap, rest_base, rest_cap, heals, page, forgets_address (frontier/outcomes.py).

local ROBOTS, MOST_HOPS = 1, 5

local function backoff(base, cap, doublings, jitter)
  local whole = base
  if cap > 0 then whole = min(cap, base * 2 ^ min(doublings, 20)) end
  return floor(whole / 2 + whole / 2 * jitter)
end

local function forgiven(record)
  return max(0, (record.o.f or 0) - floor(max(0, now - (record.o.ft or 0)) / C.forgive))
end

local function end_rest(record, ip, outcome, rule, end_ms)
  if rule[1] then
    if outcome.r ~= 'expired' then record.lf = max(0, outcome.f or 0) end
    local delay, address_delay = delays_of(record.o, record.lf)
    if end_ms + delay > record.n then record.n = end_ms + delay end
    if record.an >= 0 and ip ~= '' then
      record.an = max(record.an, end_ms + address_delay)
    elseif ip ~= '' then
      local state = load_address(ip)
      state.n = max(state.n, end_ms + address_delay)
    end
  end
  if rule[5] > 0 then
    local others = others_of(record)
    others.f = forgiven(record) + 1
    others.ft = now
    local rest_ms = backoff(rule[5], rule[6], others.f - 1, outcome.j)
    if outcome.ra then rest_ms = min(C.retry_after_cap, max(0, outcome.ra)) end
    rest(record, end_ms + rest_ms, outcome.r)
  elseif rule[7] and (record.o.f or 0) > 0 then
    record.o.f = max(0, forgiven(record) - 1)
    record.o.ft = now
  end
end

local function end_counts(record, kind, outcome, rule)
  local bytes, words = outcome.b or 0, outcome.w or 0
  local all_bytes, pages, all_words, balance = counts_of(record)
  meta_add.bytes, meta_add.words = meta_add.bytes + bytes, meta_add.words + words
  if rule[8] and kind ~= ROBOTS then
    pages = pages + 1
    meta_add.pages = meta_add.pages + 1
  end
  if outcome.mk and C.equal_pages > 0 then
    record.mk, balance = marked(record.mk, balance, outcome.mk)
    if balance >= C.equal_pages then
      balance = 0
      rest(record, now + C.day, 'trap_equal_pages')
    end
  end
  set_counts(record, all_bytes + bytes, pages, all_words + words, balance)
end

local function end_page(authority, record, element, outcome, rule, end_ms)
  if rule[2] == 0 and not outcome.ag then return end
  local _, attempt = header_of(element)
  local memo = outcome.m or false
  if outcome.ag then
    park(authority, record, revised(element, 0, memo), 'again', now + max(0, outcome.ag))
  elseif attempt < rule[2] then
    local next_try = revised(element, attempt + 1, memo)
    local until_ms = end_ms + backoff(rule[3], rule[4], attempt, outcome.j)
    if rule[5] > 0 then until_ms = max(until_ms, record.o.g or 0) end
    if until_ms > now then
      park(authority, record, next_try, outcome.r, until_ms)
    else
      push(authority, record, next_try, true)
    end
  elseif rule[2] > 0 then
    add(result_add, 'gave_up:' .. outcome.r, 1)
  end
end

local function gate(record, until_ms, reason, end_ms)
  local others = others_of(record)
  others.rr = until_ms
  if record.rx <= end_ms then others.rg, others.rgr = until_ms, reason end
end

local function robots_rest(others, outcome)
  return backoff(C.robots_base, C.robots_cap, others.rf or 0, outcome.j)
end

local function no_robots(record, outcome, end_ms)
  local others = others_of(record)
  local rest_ms = robots_rest(others, outcome)
  if outcome.ra then rest_ms = max(rest_ms, min(C.retry_after_cap, outcome.ra)) end
  others.rf = (others.rf or 0) + 1
  gate(record, end_ms + rest_ms, 'robots_unreachable', end_ms)
end

local function set_robots(authority, record, kind, outcome, end_ms)
  local others = others_of(record)
  others.rf, others.rr, others.rg, others.rgr = nil, nil, nil, nil
  record.rv = max(end_ms, record.rv + 1)
  record.rx = end_ms + min(max(1, outcome.re or C.robots_ttl), C.robots_ttl)
  others.cd = outcome.cd
  record.n = max(record.n, end_ms + delays_of(others, record.lf))
  if (others.cd or 0) > C.crawl_delay_cap then others.rg, others.rgr = record.rx, 'crawl_delay' end
  call('SET', P .. 'r:' .. authority, cmsgpack.pack({ kind, outcome.rb or '', record.rv, record.rx }),
    'PX', max(1, record.rx - now) + 3600000)
end

local function end_robots(origin, hops, outcome, end_ms)
  local record = make(origin)
  if outcome.r == 'robots_redirect' and outcome.ht and hops < MOST_HOPS then
    local memo = string.char(hops + 1) .. origin
    local element = string.char(9 + outcome.hw, 0, 255, 0) .. length_bytes(#memo) .. memo .. outcome.hr
    local target, others = make(outcome.ht), others_of(record)
    -- where it led to last time has not answered
    if hops == 0 and others.rgr == 'robots_wait' then others.rf = (others.rf or 0) + 1 end
    if not call('LPOS', P .. 'h:' .. outcome.ht, element) then
      call('RPUSH', P .. 'h:' .. outcome.ht, element)
      others_of(target).h = (target.o.h or 0) + 1
    end
    if outcome.ht ~= origin then replace(outcome.ht, target) end
    gate(record, end_ms + max(C.hop_wait, robots_rest(others, outcome)), 'robots_wait', end_ms)
  elseif outcome.r == 'expired' or outcome.r == 'aborted' then
    local others = others_of(record)
    others.rr = nil
    if others.rgr == 'robots_wait' then others.rg, others.rgr = nil, nil end
  elseif outcome.ro == 'rules' or outcome.ro == 'allow' then
    set_robots(origin, record, outcome.ro, outcome, end_ms)
  else
    no_robots(record, outcome, end_ms)
  end
  replace(origin, record)
end

local function finish(authority, record, outcome, rule, end_ms)
  local lease, ip = end_lease(authority, record)
  local element = lease.element
  local kind = element == '' and ROBOTS or byte(element) % 4
  add(result_add, kind == ROBOTS and 'robots:' .. outcome.r or outcome.r, 1)
  end_rest(record, ip, outcome, rule, end_ms)
  end_counts(record, kind, outcome, rule)
  if rule[9] then record.ix = 0 end
  if ip ~= '' then free_address(record, ip) end
  if kind == ROBOTS then
    local origin, hops = authority, 0
    if element ~= '' then
      local _, _, start, length = header_of(element)
      hops = byte(element, start + 2)
      origin = sub(element, start + 3, start + 1 + length)
    end
    end_robots(origin, hops, outcome, end_ms)
  else
    end_page(authority, record, element, outcome, rule, end_ms)
  end
  place(authority, record)
  if C.audit then
    local delay, address_delay = delays_of(record.o, record.lf)
    if not rule[1] then delay, address_delay = -1, -1 end
    local token, start_ms = token_of(record, lease), end_ms - max(0, outcome.f or 0)
    audit({ 'end', token, authority, ip, lease.due, start_ms, end_ms, outcome.r, delay, address_delay })
  end
end
