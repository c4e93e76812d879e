-- The line of those that may be granted now: by place, which is the band of their best URL and, within a band, the
-- number of their last lease. Those that are worth least, of the last band, stand behind all others: while better URLs
-- are to be had they take one turn for so many others or in so much time, whichever is more. One table, since a script
-- has no room for more names.

local line = {
  number = 0, -- of those that join in this call and are not worth least
  bound = 0, -- who has a turn now has a place below
  better = 0, -- until then better URLs are to be had
  credit = 0, -- of those worth least, in turns
  credited = 0, -- when that was reckoned
  narrowed = false, -- whether what pages embed alone is leased
  cleared = false, -- whether all but the best band has left it for that, and none may have joined it since
  again = {}, -- addresses that are tried once more in this call, and their places, best first
  retries = 0, -- how often one was
}
local fresh, scores = {}, {} -- waiters that join the line in this call, their places in it
local least = {} -- of those worth least places and waiters, one after another
local MOVED_AT_ONCE = 1000
local HOT, EVERY_MS = PREFIX .. 'hot', SETTINGS.least_every
-- their places begin here; with a share of 1 nobody's
local LEAST = SETTINGS.least_credit and (BANDS - 1) * BAND_UNIT or FAR
local BELOW_LEAST, BELOW_SECOND = string.format('(%d', LEAST), string.format('(%d', BAND_UNIT)
line.bound = LEAST

-- From where the last call left it; but since the clock was put back nobody is waited for until it is there again. That is
-- kept at once: what a call grants nothing by would be found anew by each, and no turn ever be earned. A call that may be
-- late knows nothing of it.
function line.go_on(better, credit, credited)
  line.better, line.credit, line.credited = better, credit, min(credited, now)
  if better > now + SETTINGS.better_wait + SETTINGS.put_back then line.better = 0 end
  if clock.late == 0 and (line.better ~= better or line.credited ~= credited) then
    call('HSET', KEYS[1], 'better', line.better, 'credited', line.credited)
  end
end

function line.is_least(score) return score >= LEAST end

function line.join(waiter, score)
  if score >= LEAST then
    least[#least + 1], least[#least + 2] = whole(score), waiter
    return
  end
  line.number = line.number + 1
  fresh[line.number], scores[line.number] = waiter, score
end

-- whether anybody stands in line who is not worth least
function line.has_better() return call('ZCOUNT', HOT, '-inf', BELOW_LEAST) > 0 end

-- those that have joined, in order
function line.in_order()
  local order, waiters = {}, {}
  for i = 1, line.number do order[i] = i end
  table.sort(order, function(a, b)
    if scores[a] ~= scores[b] then return scores[a] < scores[b] end
    return fresh[a] < fresh[b]
  end)
  for i = 1, line.number do waiters[i] = fresh[order[i]] end
  return waiters
end

local function head(first, last, limit)
  local waiters = call('ZRANGEBYSCORE', HOT, first, last, 'LIMIT', 0, limit + 15)
  read_texts(waiters, min(limit, #waiters))
  return waiters
end

-- the first of the line with places below that, after those that have joined it
local function head_below(place)
  if line.number > 0 then
    local adds = {}
    for i = 1, line.number do adds[2 * i - 1], adds[2 * i] = whole(scores[i]), fresh[i] end
    call('ZADD', HOT, unpack(adds))
  end
  return head('-inf', place, ARGS.limit)
end

function line.head() return head_below(BELOW_LEAST) end

-- those of the best band, after all that have joined
function line.head_of_best()
  if least[1] then call('ZADD', HOT, unpack(least)) end
  return head_below(BELOW_SECOND)
end

function line.has_best() return call('ZCOUNT', HOT, '-inf', BELOW_SECOND) > 0 end

-- What pages embed alone is leased. From the first time on all but the best band leaves the line for 'due', MOVED_AT_ONCE
-- in a call: nobody has looked there for what pages embed. Whether some may still stand there.
function line.narrow()
  line.narrowed, line.bound = true, BAND_UNIT
  if line.cleared then return false end
  local waiters, adds = call('ZRANGEBYSCORE', HOT, whole(BAND_UNIT), '+inf', 'LIMIT', 0, MOVED_AT_ONCE), {}
  for i = 1, #waiters do adds[2 * i - 1], adds[2 * i] = 0, waiters[i] end
  if waiters[1] then
    call('ZADD', PREFIX .. 'due', unpack(adds)) -- at once, also who stands there until what it has parked comes back
    call('ZREM', HOT, unpack(waiters))
  end
  if #waiters == MOVED_AT_ONCE then return true end
  call('HSET', KEYS[1], 'cleared', 1)
  return false
end

-- All bands may join it; a budget that was raised is spent later, or lowered again.
function line.widen()
  if line.cleared then call('HDEL', KEYS[1], 'cleared') end
end

-- the first of those worth least that may have a turn after so many others, and how many of them may
function line.head_of_least(others)
  if least[1] then call('ZADD', HOT, unpack(least)) end
  local earned = others * SETTINGS.least_credit + max(0, now - line.credited) / EVERY_MS
  line.credit, line.credited, line.bound = min(line.credit + earned, SETTINGS.most_credit), now, FAR
  local turns = ARGS.limit - others
  if now < line.better then turns = min(turns, floor(line.credit)) end
  return turns > 0 and head(whole(LEAST), '+inf', turns) or {}, turns
end

-- An address whose first has got nothing is tried once more in this call; false when many were, or only what pages embed is
-- leased and the next has none of it in line: then it belongs in 'due'.
function line.try_again(waiter, place)
  line.retries = line.retries + 1
  if line.retries > ARGS.limit + 16 or line.narrowed and place >= line.bound then return false end
  local at = 1
  while line.again[at] and line.again[at].place < place do at = at + 1 end
  table.insert(line.again, at, { waiter = waiter, place = place })
  hot_of[waiter] = place
  return true
end

-- so many turns of theirs are over, and of these waiters so many were tried
function line.leave(waiters, tried, turns)
  if tried > 0 then call('ZREM', HOT, unpack(waiters, 1, tried)) end
  if now < line.better then line.credit = line.credit - turns end
end

-- the authority of this record has a lease, due then; better URLs that it has besides are waited for
function line.note(text, due)
  if byte(text, 2) < BANDS - 1 then line.better = max(line.better, due + SETTINGS.better_wait) end
end

-- when somebody in line may have a turn; nil when nobody stands there
function line.turn()
  if call('EXISTS', HOT, PREFIX .. 'new') == 0 then return nil end
  if line.better <= now or line.credit >= 1 or line.has_better() then return now end
  if call('EXISTS', PREFIX .. 'new') == 1 then return now end
  return min(line.better, line.credited + math.ceil((1 - line.credit) * EVERY_MS))
end
