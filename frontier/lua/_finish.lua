-- The end of a lease, reported or expired; put behind _common.lua where leases end. Same steps as frontier/reports.py.
--
-- outcome: map result, fetch_ms, jitter, bytes, words and, where there is one, retry_after_ms, memo, again_in_ms,
-- page_mark; of robots.txt also robots_kind, robots_body, robots_expires_in_ms, crawl_delay_ms, and of one that is
-- redirected target (an authority), target_is_whole (bit) and target_rest, of which its element there is made.
-- rule: the result's row of the outcome table (frontier/outcomes.py, Row), with the same names.

local ROBOTS = 1

local function backoff(base, cap, doublings, jitter)
  local whole = base
  if cap > 0 then whole = min(cap, base * 2 ^ min(doublings, SETTINGS.most_doublings)) end
  return floor(whole / 2 + whole / 2 * jitter)
end

local function forgiven(record)
  return max(0, (record.others.f or 0) - floor(max(0, now - (record.others.ft or 0)) / SETTINGS.forgive))
end

local function end_rest(record, ip, outcome, rule, end_ms)
  if rule.sent then
    if outcome.result ~= 'expired' then record.last_fetch_ms = max(0, outcome.fetch_ms or 0) end
    local delay, address_delay = delays_of(record.others, record.last_fetch_ms)
    if end_ms + delay > record.next_ms then record.next_ms = end_ms + delay end
    if record.address_next_ms >= 0 and ip ~= '' then
      record.address_next_ms = max(record.address_next_ms, end_ms + address_delay)
    elseif ip ~= '' then
      local state = load_address(ip)
      state.next_ms = max(state.next_ms, end_ms + address_delay)
    end
  end
  if rule.rest_base_ms > 0 then
    local others = others_of(record)
    others.f = forgiven(record) + 1
    local rest_ms = backoff(rule.rest_base_ms, rule.rest_cap_ms, others.f - 1, outcome.jitter)
    if outcome.retry_after_ms then rest_ms = min(SETTINGS.retry_after_cap, max(0, outcome.retry_after_ms)) end
    others.ft = end_ms + rest_ms
    rest(record, others.ft, outcome.result)
  elseif rule.sent and (outcome.retry_after_ms or 0) > 0 and outcome.result ~= 'robots_redirect' then
    rest(record, end_ms + min(SETTINGS.retry_after_cap, outcome.retry_after_ms), outcome.result)
  elseif rule.heals and (record.others.f or 0) > 0 then
    record.others.f = max(0, forgiven(record) - 1)
    record.others.ft = now
  end
end

local function end_counts(authority, record, element, kind, outcome, rule)
  local bytes, words = outcome.bytes or 0, outcome.words or 0
  local all_bytes, pages, all_words, balance = counts_of(record)
  meta_add.bytes, meta_add.words = meta_add.bytes + bytes, meta_add.words + words
  if rule.page and kind ~= ROBOTS then
    pages = pages + 1
    meta_add.pages = meta_add.pages + 1
  end
  if record.others.e and record.others.e <= now then record.others.e, record.others.es = nil, nil end
  if trap(authority, record, element, false) then
    balance = 0 -- there were more than are parked at once
  elseif outcome.page_mark and SETTINGS.equal_pages > 0 then
    local before, least = balance, record.others.e and SETTINGS.few_equal_pages or SETTINGS.some_equal_pages
    record.marks, balance = marked(record.marks, balance, outcome.page_mark)
    if balance > before and balance >= least and trap(authority, record, element, true) then
      balance = 0
    elseif balance >= SETTINGS.equal_pages then
      balance = 0
      rest(record, now + SETTINGS.day, SETTINGS.equal_pages_reason)
    end
  end
  set_counts(record, all_bytes + bytes, pages, all_words + words, balance)
end

local function end_page(authority, record, element, outcome, rule, end_ms)
  if rule.retries == 0 and not outcome.again_in_ms then return end
  local _, tries = header_of(element)
  local tried = rule.unit > 0 and math.floor(tries / rule.unit) % 16 or 0
  local memo = outcome.memo or false
  if outcome.again_in_ms then
    park(authority, record, revised(element, 0, memo), 'again', now + max(0, outcome.again_in_ms))
  elseif tried < rule.retries then
    local next_try = revised(element, tries + rule.unit, memo)
    local until_ms = end_ms + backoff(rule.base_ms, rule.cap_ms, 2 * tried, outcome.jitter)
    if rule.rest_base_ms > 0 then until_ms = max(until_ms, record.others.g or 0) end
    if until_ms > now then
      park(authority, record, next_try, outcome.result, until_ms)
    else
      push(authority, record, next_try, true)
    end
  elseif rule.retries > 0 then
    add(result_add, 'gave_up:' .. outcome.result, 1)
  end
end

local function gate(record, until_ms, reason, end_ms)
  local others = others_of(record)
  others.rr = until_ms
  if record.robots_expires_ms <= end_ms then others.rg, others.rgr = until_ms, reason end
end

local function robots_rest(others, outcome)
  return backoff(SETTINGS.robots_base, SETTINGS.robots_cap, others.rf or 0, outcome.jitter)
end

local function no_robots(record, outcome, end_ms)
  local others = others_of(record)
  local rest_ms = robots_rest(others, outcome)
  if outcome.retry_after_ms then rest_ms = max(rest_ms, min(SETTINGS.retry_after_cap, outcome.retry_after_ms)) end
  others.rf = (others.rf or 0) + 1
  gate(record, end_ms + rest_ms, 'robots_unreachable', end_ms)
end

local function slow_down(record, outcome, end_ms)
  local others = others_of(record)
  others.cd = outcome.crawl_delay_ms
  record.next_ms = max(record.next_ms, end_ms + delays_of(others, record.last_fetch_ms))
end

local function set_robots(authority, record, kind, outcome, end_ms)
  local others = others_of(record)
  others.rf, others.rr, others.rg, others.rgr = nil, nil, nil, nil
  record.robots_ms = max(end_ms, record.robots_ms + 1)
  local valid_ms = min(max(1, outcome.robots_expires_in_ms or SETTINGS.robots_ttl), SETTINGS.robots_ttl)
  record.robots_expires_ms = end_ms + valid_ms
  slow_down(record, outcome, end_ms)
  if (others.cd or 0) > SETTINGS.crawl_delay_cap then
    others.rg, others.rgr = record.robots_expires_ms, 'crawl_delay'
  end
  local text = cmsgpack.pack({ kind, outcome.robots_body or '', record.robots_ms, record.robots_expires_ms })
  call('SET', PREFIX .. 'r:' .. authority, text, 'PX', max(1, record.robots_expires_ms - now) + 3600000)
end

-- moved_to: the record of the host whose own robots.txt it is, too, or false
local function end_robots(origin, hops, outcome, end_ms, moved_to)
  local record = ensure_record(origin)
  local is_redirect = outcome.result == 'robots_redirect' and outcome.target and hops < SETTINGS.most_hops
  local waits = is_redirect and (outcome.retry_after_ms or 0) > 0
  local reason = record.others.rgr or ''
  if waits and hops > 0 then
    no_robots(record, outcome, end_ms)
  elseif waits and reason ~= 'robots_wait' and reason ~= 'robots_later' then
    gate(record, end_ms + min(SETTINGS.retry_after_cap, outcome.retry_after_ms), 'robots_later', end_ms)
  elseif is_redirect then
    local memo = string.char(hops + 1) .. origin
    local header = string.char(9 + outcome.target_is_whole, 0, 255, 0) .. length_bytes(#memo)
    local element = header .. memo .. outcome.target_rest
    local target, others = ensure_record(outcome.target), others_of(record)
    -- where it led to last time has not answered
    if hops == 0 and reason == 'robots_wait' then others.rf = (others.rf or 0) + 1 end
    if not call('LPOS', PREFIX .. 'h:' .. outcome.target, element) then
      call('RPUSH', PREFIX .. 'h:' .. outcome.target, element)
      others_of(target).h = (target.others.h or 0) + 1
    end
    if outcome.target ~= origin then reschedule(outcome.target, target) end
    gate(record, end_ms + max(SETTINGS.hop_wait, robots_rest(others, outcome)), 'robots_wait', end_ms)
  elseif outcome.result == 'expired' or outcome.result == 'aborted' then
    local others = others_of(record)
    others.rr = nil
    if reason == 'robots_wait' or reason == 'robots_later' then others.rg, others.rgr = nil, nil end
  elseif outcome.robots_kind == 'rules' or outcome.robots_kind == 'allow' then
    set_robots(origin, record, outcome.robots_kind, outcome, end_ms)
    if moved_to then slow_down(moved_to, outcome, end_ms) end
  else
    no_robots(record, outcome, end_ms)
  end
  reschedule(origin, record)
end

local function finish(authority, record, outcome, rule, end_ms)
  local lease, ip = end_lease(authority, record)
  local element = lease.element
  local kind = element == '' and ROBOTS or byte(element) % 4
  add(result_add, kind == ROBOTS and 'robots:' .. outcome.result or outcome.result, 1)
  end_rest(record, ip, outcome, rule, end_ms)
  end_counts(authority, record, element, kind, outcome, rule)
  if rule.forgets_address then record.address_until_ms = 0 end
  if ip ~= '' then free_address(record, ip) end
  if kind == ROBOTS then
    local origin, hops, moved_to = authority, 0, false
    if element ~= '' then
      local _, _, start, length = header_of(element)
      hops = byte(element, start + 2)
      origin = sub(element, start + 3, start + 1 + length)
      moved_to = sub(element, start + 2 + length) == '/robots.txt' and record
    end
    end_robots(origin, hops, outcome, end_ms, moved_to)
  else
    end_page(authority, record, element, outcome, rule, end_ms)
  end
  schedule(authority, record)
  if SETTINGS.audit then
    local delay, address_delay = delays_of(record.others, record.last_fetch_ms)
    if not rule.sent then delay, address_delay = -1, -1 end
    local token, start_ms = token_of(record, lease), end_ms - max(0, outcome.fetch_ms or 0)
    audit({ 'end', token, authority, ip, lease.due, start_ms, end_ms, outcome.result, delay, address_delay })
  end
end
