-- Queue arrivals. ARGV[1]: map groups = list of {authority, list of elements}; an element is a string, or
-- {element, not before, sketch place or -1, sketch place, trap rule or ''}. With `taken`: the arrivals are those of
-- the first `number` elements of the ready queue, moved only when `taken` is still its count of what was removed.
-- returns number queued or parked, or -1: somebody else took them, nothing done.
-- Cost O(elements), of which a call has a few thousand at most (INTAKE_BATCH in frontier/redis_frontier.py): `unpack` has
-- room for 8,000. Atomic, so that an entry leaves the ready queue exactly when it is in the frontier.

local ready_key, taken_key = ARGS.ready, ARGS.ready and ARGS.ready .. ':taken'
if ARGS.taken and tonumber(call('GET', taken_key) or 0) ~= ARGS.taken then return cmsgpack.pack(-1) end
-- first of all a write that the memory limit refuses, so that it refuses all or nothing
call('HINCRBY', KEYS[1], 'intakes', 1)

local function query_trap(authority, record, first, second)
  local others = others_of(record)
  others.qv = (others.qv or 0) + 1
  if others.qv <= min(SETTINGS.sketched_from, SETTINGS.query_variants) then return '' end
  local seen = call('BITFIELD', PREFIX .. 'v:' .. authority, 'OVERFLOW', 'SAT',
    'INCRBY', 'u16', '#' .. first, 1, 'INCRBY', 'u16', '#' .. second, 1)
  return min(seen[1], seen[2]) > SETTINGS.query_variants and 'trap_query_variants' or ''
end

local function trapped(authority, record, element, rule)
  if (record.others.tn or 0) >= SETTINGS.parked_traps then
    add(result_add, 'dropped:' .. rule, 1)
    return 0
  end
  if park(authority, record, element, rule, now + SETTINGS.trap_park) then
    others_of(record).tn = (record.others.tn or 0) + 1
  end
  return 1
end

-- 1 for what looks like a trap's; nil, the element is to be queued
local function equal(authority, record, element)
  if not is_trapped(record, element) then return nil end
  park(authority, record, element, EQUAL_PAGES, record.others.e)
  return 1
end

-- 1 or 0 for those parked or counted; nil, the element is to be queued
local function special(authority, record, item)
  local rule = item[5]
  if rule == '' and SETTINGS.host_urls > 0 and record.admitted >= SETTINGS.host_urls then rule = 'trap_host_urls' end
  if rule == '' and item[3] >= 0 and SETTINGS.query_variants > 0 then
    rule = query_trap(authority, record, item[3], item[4])
  end
  if rule ~= '' then return trapped(authority, record, item[1], rule) end
  record.admitted = record.admitted + 1
  if item[2] > now then
    park(authority, record, item[1], 'not_before', item[2])
    return 1
  end
  return equal(authority, record, item[1])
end

local function plain(authority, record, element)
  if SETTINGS.host_urls > 0 and record.admitted >= SETTINGS.host_urls then
    return trapped(authority, record, element, 'trap_host_urls')
  end
  record.admitted = record.admitted + 1
  return equal(authority, record, element)
end

-- behind those of their bands in the record; lists: band -> list of elements
local function extend_inline(record, lists)
  local inline, parts, place, numbers = record.inline, {}, 1, {}
  for _, found in ipairs(bands_of(record)) do numbers[found[1]] = found[2] end
  for band = 0, BANDS - 1 do
    local start = place
    for _ = 1, numbers[band] or 0 do place = inline_end(inline, place) + 1 end
    parts[#parts + 1] = sub(inline, start, place - 1)
    for _, element in ipairs(lists[band] or {}) do parts[#parts + 1] = length_bytes(#element) .. element end
  end
  record.inline = table.concat(parts)
end

local function push_all(authority, record, elements, bytes)
  local lists = {}
  for i = 1, #elements do
    local band = band_of(elements[i])
    local list = lists[band] or {}
    lists[band], list[#list + 1] = list, elements[i]
  end
  local is_inline = stays_inline(authority, record, bytes)
  if is_inline then extend_inline(record, lists) end
  for band, list in pairs(lists) do
    if not is_inline then call('RPUSH', queue_key(authority, band), unpack(list)) end
    count(record, band, #list)
  end
end

local function better_place(authority, record)
  local score = place_in_line(record)
  local ip = record.others.w
  if ip then
    call('ZADD', PREFIX .. 'w:' .. ip, 'XX', 'LT', score, authority)
    call('ZADD', PREFIX .. 'hot', 'XX', 'LT', score, '@' .. ip)
  else
    call('ZADD', PREFIX .. 'hot', 'XX', 'LT', score, authority)
  end
end

-- Whether nobody looks at who stands in line behind the best band: only what pages embed was leased last (_line.lua). All
-- others may be leased again since a budget was raised, and not be when they are next asked for.
local function is_narrowed() return call('HEXISTS', KEYS[1], 'cleared') == 1 end

local function take_group(authority, items)
  local is_new = not load_record(authority)
  local record = ensure_record(authority)
  local empty, best, number = record.queued == 0, best_band(record), 0
  local first_parked, parked, waits, bytes = record.others.pm, record.others.pn, {}, 0
  for _, item in ipairs(items) do
    local is_plain = type(item) == 'string'
    local element = is_plain and item or item[1]
    local counted
    if is_plain then counted = plain(authority, record, element) else counted = special(authority, record, item) end
    number = number + (counted or 1)
    if not counted then
      waits[#waits + 1] = element
      bytes = bytes + #element + 2
    end
  end
  push_all(authority, record, waits, bytes)
  if is_new then return number end -- its place is in 'new'
  local is_better = not empty and best_band(record) < best
  -- of what pages embed, perhaps; where it waits for what it has parked, a better place in line is of no use
  local may_embed = is_better and best_band(record) == 0 or best > 0 and record.others.pn ~= parked
  if empty and #waits > 0 or may_embed and is_narrowed() then
    reschedule(authority, record)
  elseif is_better then
    better_place(authority, record)
  elseif record.others.pm ~= first_parked and (empty or SETTINGS.least_credit and best == BANDS - 1) then
    reschedule(authority, record)
  end
  return number
end

local total, arrived = 0, {}
for i, group in ipairs(ARGS.groups) do arrived[i] = group[1] end
read_texts(arrived)
for _, group in ipairs(ARGS.groups) do
  total = total + take_group(group[1], group[2])
end
for name, number in pairs(ARGS.refused) do add(result_add, name, number) end
if ARGS.taken then
  call('LTRIM', ready_key, ARGS.number, -1)
  call('INCRBY', taken_key, ARGS.number)
end
commit()
return cmsgpack.pack(total)
