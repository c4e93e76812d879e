-- Hand out URLs that are due. ARGV[1]: map limit, ahead, key (the tokens' second half). None are handed out when nobody
-- waits for the answer any more: a Redis that hung does what it was asked for when it goes on.
-- returns {leases, now, next due or -1, budget spent or '', damaged, ahead, late (_clock.lua)}; leases: authority, its
-- record (_visits.lua) or what of it stands in front of the queue, authority, record, ...; damaged: {} or a table of
-- opt-outs and the host whose part of it cannot be read, whereupon none of the leases may be used
-- Cost O((limit + expired) * log(authorities)); at most 64 expired leases and limit + 16 authorities newly due a call.
-- An authority that has opted out costs O(URLs parked) besides.
-- Atomic, so that of all workers one gets an authority, and one an address.

local ASK_AGAIN_MS = 1000
local SETTLED_AT_ONCE = 256
local slow -- the functions of the slow way; to define them costs as much as two leases

local function slow_way()
  slow = slow or define_slow_way()
  return slow
end

-- whether as many are leased as there may be pages still
local all_under_way = false

-- A lease is a page at most: with those that others hold there are never more than the budget has. What of them becomes
-- none leaves room for others. That of pages comes last: the others end all, it may leave what pages embed.
local function spent_budget()
  local meta = call('HMGET', KEYS[1], 'pages', 'bytes', 'started', 'seq', 'better', 'credit', 'credited', 'cleared')
  sequence = tonumber(meta[4] or 0)
  line.go_on(tonumber(meta[5] or 0), tonumber(meta[6] or 0), tonumber(meta[7] or now))
  line.cleared = meta[8]
  if SETTINGS.max_bytes > 0 and tonumber(meta[2] or 0) + meta_add.bytes >= SETTINGS.max_bytes then return 'bytes' end
  if SETTINGS.max_ms > 0 and meta[3] and now - tonumber(meta[3]) >= SETTINGS.max_ms then return 'seconds' end
  if SETTINGS.max_pages > 0 then
    local left = SETTINGS.max_pages - tonumber(meta[1] or 0) - meta_add.pages
    if left <= 0 then return 'pages', meta[3] end
    left = left - call('ZCOUNT', PREFIX .. 'due', LEASED, '+inf')
    all_under_way = left <= 0
    ARGS.limit = min(ARGS.limit, left)
  end
  return '', meta[3]
end

-- what is newly due joins the line; the number of waiters that leave 'due' for that, or for good
local function promote()
  local waiters = call('ZRANGEBYSCORE', PREFIX .. 'due', '-inf', whole(horizon), 'LIMIT', 0, ARGS.limit + 16)
  read_texts(waiters)
  local addresses_due = false
  for i = 1, #waiters do
    local waiter = waiters[i]
    local text, score = texts[waiter], nil
    if text and records[waiter] == nil then score = score_in(text) end
    if score then
      line.join(waiter, score)
    elseif byte(waiter) ~= AT then
      slow_way().line_up(waiter)
    else
      addresses_due = true
    end
  end
  -- last, since a host may just have left the line of one
  for i = 1, addresses_due and #waiters or 0 do
    local place = byte(waiters[i]) == AT and slow_way().place_of(waiters[i])
    if place then line.join(waiters[i], place) end
  end
  return #waiters
end

-- until so many are granted in all; the number of the first waiters that have been tried
local function try_all(waiters, most)
  local tried = 0
  local has_read = false
  while granted < most do
    local waiter = line.again[1] and slow.again_before(waiters[tried + 1])
    if not waiter then
      if tried == #waiters then break end
      tried = tried + 1
      waiter = waiters[tried]
    end
    local text = texts[waiter]
    if line.narrowed or not text or records[waiter] ~= nil or not grant_plain(waiter, text) then
      if not has_read then slow_way().read_ahead(waiters, min(ARGS.limit, #waiters)) end
      has_read = true
      if byte(waiter) == AT then slow.try_address(sub(waiter, 2)) else slow.try_authority(waiter) end
    end
  end
  return tried
end

-- Tried in order: what is newly due, when nobody else stands in line and all of it can be granted (as in most calls of
-- most crawls); else the head of the line that it has joined. Not those that are worth least.
local function grant_better()
  local promoted = promote()
  local new = call('LRANGE', PREFIX .. 'new', 0, ARGS.limit + 15)
  if new[1] then slow_way().line_up_new(new) end
  local in_line = line.number > ARGS.limit or line.has_better()
  if in_line then
    if promoted > 0 then call('ZREMRANGEBYRANK', PREFIX .. 'due', 0, promoted - 1) end
    if slow then slow.flush_places() end
    local tried = try_all(line.head(), ARGS.limit)
    if tried > 0 then call('ZREMRANGEBYRANK', PREFIX .. 'hot', 0, tried - 1) end
  else
    try_all(line.in_order(), ARGS.limit)
    if promoted > 0 then call('ZREMRANGEBYRANK', PREFIX .. 'due', 0, promoted - 1) end
  end
end

local function grant_least()
  if slow then slow.flush_places() end
  local others = granted
  local waiters, turns = line.head_of_least(others)
  local tried = try_all(waiters, others + turns)
  line.leave(waiters, tried, granted - others)
end

-- Hosts that 'due' has first, and as many that wait for addresses there, up to one that has some of what pages embed
-- later: those that have none leave it. Whether there is more to look at.
local function settle_some()
  local new = call('LRANGE', PREFIX .. 'new', 0, SETTLED_AT_ONCE - 1)
  if new[1] then slow.read_new(new) end
  for i = 1, #new do slow.settle(new[i]) end
  local last = whole(LEASED - 1)
  local waiters = call('ZRANGEBYSCORE', PREFIX .. 'due', '-inf', last, 'WITHSCORES', 'LIMIT', 0, SETTLED_AT_ONCE)
  local left = SETTLED_AT_ONCE
  for i = 1, #waiters, 2 do
    local waiter, due, waits = waiters[i], tonumber(waiters[i + 1]), nil
    if byte(waiter) == AT then
      waits, left = slow.settle_address(waiter, due, left)
    else
      waits = slow.settle(waiter)
    end
    if left == 0 then return true end
    if waits and due > horizon then return false end
  end
  return #waiters == 2 * SETTLED_AT_ONCE
end

-- What pages embed, when the budget of pages is spent. Returns now when there is more to look at, else nil.
local function grant_requisites()
  slow_way()
  local has_more = line.narrow() or settle_some() -- what is settled goes back into the line, when all others have left it
  slow.flush_places()
  local tried = try_all(line.head_of_best(), ARGS.limit)
  if tried > 0 then call('ZREMRANGEBYRANK', PREFIX .. 'hot', 0, tried - 1) end
  return (has_more or line.has_best() or call('EXISTS', PREFIX .. 'new') == 1) and now or nil
end

call('DEL', PREFIX .. 'oom') -- a write that the memory limit lets pass makes the rest of the script exempt from it
local expired = call('ZRANGEBYSCORE', PREFIX .. 'due', LEASED, whole(LEASED + now), 'LIMIT', 0, SETTINGS.expired_at_once)
if expired[1] then slow_way().collect_expired(expired) end
local closed, started = spent_budget()
local narrowed = closed == 'pages' and SETTINGS.requisites
local turn = now
if clock.late == 0 and now <= (tonumber(ARGV[4]) or now) + SETTINGS.answer_within then
  if narrowed then
    turn = grant_requisites()
  elseif closed == '' and not all_under_way then
    line.widen()
    grant_better()
    if SETTINGS.least_credit then grant_least() end
  end
  if granted > 0 then
    if not started then call('HSET', KEYS[1], 'started', now) end
    call('HSET', KEYS[1], 'seq', sequence, 'better', line.better, 'credit', line.credit, 'credited', line.credited)
  end
end
if slow then slow.commit() else write_visits() end
local next_due = -1
if closed == '' or narrowed then
  if not narrowed then turn = line.turn() end
  if turn ~= now then
    local head = call('ZRANGE', PREFIX .. 'due', 0, 0, 'WITHSCORES')
    local due = tonumber(head[2])
    if due and due < LEASED then turn = max(now, min(due, turn or due)) end
  end
  next_due = turn or -1
  if all_under_way and turn then next_due = max(turn, now + ASK_AGAIN_MS) end
end
return cmsgpack.pack({ leases, now, next_due, closed, opt_outs.damaged, clock.ahead, clock.late })
