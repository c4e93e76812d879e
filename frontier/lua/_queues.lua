-- Elements and the queues they wait in: a host's record while they are few, lists by band else; and parking.

-- A list costs some 150 bytes and a host may have eight, so what fits here must be many URLs; each lease copies it.
local MOST_INLINE_BYTES = 2000
local PARKED_AT_ONCE, UNPARKED_AT_ONCE = SETTINGS.parked_at_once, SETTINGS.unparked_at_once
local EQUAL_PAGES = SETTINGS.equal_pages_reason

-- elements (layout: frontier/payload.py) ------------------------------------------------------------------------------

local function band_of(element)
  return BANDS - 1 - floor(byte(element, 3) / 32)
end

-- kind (0 page, 1 robots), tries, place (from 1) of what follows the source, length of the memo or -1
local function header_of(element)
  local bits, tries = byte(element, 1, 2)
  local place = floor(bits / 32) % 2 == 1 and 13 or 5
  local memo = -1
  if floor(bits / 8) % 2 == 1 then
    local high, low = byte(element, place, place + 1)
    memo = high * 256 + low
  end
  return bits % 4, tries, place, memo
end

local function length_bytes(number)
  return string.char(floor(number / 256), number % 256)
end

-- the element with another byte of tries and, unless false, another memo
local function revised(element, tries, memo)
  local bits = byte(element, 1)
  local _, _, place, length = header_of(element)
  local rest = length >= 0 and place + 2 + length or place
  local old = sub(element, place, rest - 1)
  if memo then old = memo == '' and '' or length_bytes(#memo) .. memo end
  if length >= 0 then bits = bits - 8 end
  if old ~= '' then bits = bits + 8 end
  return string.char(bits, min(255, tries)) .. sub(element, 3, place - 1) .. old .. sub(element, rest)
end

-- the URL behind the authority (for opt-out prefixes)
local function path_of(element)
  local bits = byte(element, 1)
  local _, _, place, length = header_of(element)
  local rest = sub(element, length >= 0 and place + 2 + length or place)
  if floor(bits / 4) % 2 == 1 then return string.match(rest, '^%a[%w+.-]*://[^/?#]*(.*)$') or '' end
  return rest
end

-- the part of the site that the URL belongs to (frontier/payload.py)
local function section_of(element)
  local path = path_of(element)
  local query = string.find(path, '?', 1, true)
  local first = string.match(sub(path, 1, (query or 0) - 1), '^/?([^/]*)/') or ''
  return sub(first, 1, SETTINGS.section_bytes) .. (query and '?' or '')
end

-- queues -------------------------------------------------------------------------------------------------------------

-- `number` (perhaps negative) more URLs wait in a band
local function count(record, band, number)
  record.queued = record.queued + number
  meta_add.queued = meta_add.queued + number
  local qs, place = record.bands, 1
  while place <= #qs and byte(qs, place) < band do place = place + 5 end
  local behind = place
  if byte(qs, place) == band then
    behind, number = place + 5, number + unpack_struct('<I4', qs, place + 1)
  end
  record.bands = sub(qs, 1, place - 1) .. (number > 0 and pack_struct('<BI4', band, number) or '') .. sub(qs, behind)
end

-- list of {band, number} with URLs, best first
local function bands_of(record)
  local bands, qs = {}, record.bands
  for place = 1, #qs, 5 do
    local number = unpack_struct('<I4', qs, place + 1)
    bands[#bands + 1] = { byte(qs, place), number }
  end
  return bands
end

local function inline_end(inline, place)
  local high, low = byte(inline, place, place + 1)
  return place + 1 + high * 256 + low
end

-- from the record into lists
local function spill(authority, record)
  local place = 1
  for _, band in ipairs(bands_of(record)) do
    local list = {}
    for i = 1, band[2] do
      local last = inline_end(record.inline, place)
      list[i] = sub(record.inline, place + 2, last)
      place = last + 1
    end
    call('RPUSH', queue_key(authority, band[1]), unpack(list))
  end
  record.inline = ''
end

-- whether `bytes` more of elements may lie in the record; what lies there gives way else
local function stays_inline(authority, record, bytes)
  if record.queued > 0 and record.inline == '' then return false end
  if #record.inline + bytes <= MOST_INLINE_BYTES then return true end
  if record.inline ~= '' then spill(authority, record) end
  return false
end

local function insert_inline(record, element, band, front)
  local place, before = 1, front and band or band + 1
  for _, found in ipairs(bands_of(record)) do
    if found[1] >= before then break end
    for _ = 1, found[2] do place = inline_end(record.inline, place) + 1 end
  end
  record.inline = sub(record.inline, 1, place - 1) .. length_bytes(#element) .. element .. sub(record.inline, place)
end

local function push(authority, record, element, front)
  local band = band_of(element)
  if stays_inline(authority, record, #element + 2) then
    insert_inline(record, element, band, front)
  else
    call(front and 'LPUSH' or 'RPUSH', queue_key(authority, band), element)
  end
  count(record, band, 1)
  mark_changed(authority)
end

local function best_band(record)
  return byte(record.bands) or BANDS - 1
end

local function place_in_line(record)
  local band = record.others.h and 0 or best_band(record) -- another host waits for a redirected robots.txt
  return band * BAND_UNIT + record.served
end

-- whether it is a page that is tried again since an answer to it failed
local function has_failed(element)
  local bits, tries = byte(element, 1, 2)
  return bits % 4 == 0 and tries % 16 > 0
end

-- The band of the next element, and where that is in the record: the best, but of a host that has failed the best whose
-- first element is no page that has (not the last: its share is bounded), if there is one.
local function next_band(authority, record)
  local best, place = byte(record.bands), 1
  if (record.others.f or 0) == 0 then return best, place end
  for _, found in ipairs(bands_of(record)) do
    if found[1] == BANDS - 1 then break end
    local element
    if record.inline == '' then
      element = call('LINDEX', queue_key(authority, found[1]), 0)
    else
      element = sub(record.inline, place + 2, inline_end(record.inline, place))
    end
    if element and not has_failed(element) then return found[1], place end
    if record.inline ~= '' then
      for _ = 1, found[2] do place = inline_end(record.inline, place) + 1 end
    end
  end
  return best, 1
end

-- the next element, or what stands first of all; nil when none waits
local function pop(authority, record, is_first)
  if record.queued == 0 then return nil end
  local band, place = byte(record.bands), 1
  if not is_first then band, place = next_band(authority, record) end
  local inline = record.inline
  count(record, band, -1)
  if inline == '' then return call('LPOP', queue_key(authority, band)) end
  local last = inline_end(inline, place)
  record.inline = sub(inline, 1, place - 1) .. sub(inline, last + 1)
  return sub(inline, place + 2, last)
end

-- an element out of the first `most` of its band (a record holds fewer than any limit); whether it was there
local function take_out(authority, record, element, band, most)
  if record.inline == '' then
    local key = queue_key(authority, band)
    if not call('LPOS', key, element, 'MAXLEN', most) then return false end
    call('LREM', key, 1, element)
    count(record, band, -1)
    return true
  end
  local place, inline = 1, record.inline
  while place < #inline do
    local last = inline_end(inline, place)
    if sub(inline, place + 2, last) == element then
      record.inline = sub(inline, 1, place - 1) .. sub(inline, last + 1)
      count(record, band, -1)
      return true
    end
    place = last + 1
  end
  return false
end

-- parking ------------------------------------------------------------------------------------------------------------

local function note_unparks(authority, record)
  local head = call('ZRANGE', PREFIX .. 'p:' .. authority, 0, 0, 'WITHSCORES')
  others_of(record).pm = head[2] and tonumber(head[2]) or nil
  unparks_of[authority] = record.others.pm or false
  mark_changed(authority)
end

-- true when it was not parked for that reason already
local function park(authority, record, element, reason, until_ms)
  local new = call('ZADD', PREFIX .. 'p:' .. authority, until_ms, reason .. '\0' .. element) == 1
  if new then
    others_of(record).pn = (record.others.pn or 0) + 1
    add(meta_add, 'parked', 1)
    add(reason_add, reason, 1)
    if not record.others.pm or until_ms < record.others.pm then
      record.others.pm = until_ms
      unparks_of[authority] = until_ms
    end
    mark_changed(authority)
  else
    note_unparks(authority, record)
  end
  return new
end

-- whether what an element leads to looks like a trap's: it is worth least, and its section has given equal pages
local function is_trapped(record, element)
  local until_ms, sections = record.others.e, record.others.es
  if not until_ms or until_ms <= now or element == '' or band_of(element) < BANDS - 1 then return false end
  if not sections then return true end
  local section = section_of(element)
  for _, one in ipairs(sections) do
    if one == section then return true end
  end
  return false
end

-- the last band's URLs of the sections that have given equal pages, of the first PARKED_AT_ONCE
local function park_trapped(authority, record)
  if byte(record.bands, -5) ~= BANDS - 1 then return end
  if record.inline ~= '' then spill(authority, record) end
  local key, kept, parked = queue_key(authority, BANDS - 1), {}, 0
  local elements = call('LRANGE', key, 0, PARKED_AT_ONCE - 1)
  for i = #elements, 1, -1 do
    if is_trapped(record, elements[i]) then
      park(authority, record, elements[i], EQUAL_PAGES, record.others.e)
      parked = parked + 1
    else
      kept[#kept + 1] = elements[i]
    end
  end
  if parked == 0 then return end
  call('LTRIM', key, PARKED_AT_ONCE, -1)
  if #kept > 0 then call('LPUSH', key, unpack(kept)) end
  count(record, BANDS - 1, -parked)
end

-- After a page that `element` led to: where that looks like a trap's, `is_equal` for the first time, what waits of its
-- section is parked, too (frontier/host.py). Whether it does.
local function trap(authority, record, element, is_equal)
  if not is_trapped(record, element) then
    if not is_equal or element == '' or band_of(element) < BANDS - 1 then return false end
    local others = others_of(record)
    if (others.e or 0) <= now then others.e, others.es = now + SETTINGS.day, {} end
    local sections = others.es
    if #sections < SETTINGS.most_sections then sections[#sections + 1] = section_of(element) else others.es = nil end
  end
  park_trapped(authority, record)
  return true
end

-- Up to `most` URLs whose time has come, in front, but pages that have failed or that waited for equal pages behind what
-- waits (why: frontier/host.py). While that section waits for those again, they wait on with it: it would all come a day
-- later, and each day twice as much. Without `most` it is for a lease due at `until_ms`, perhaps ahead of time: before, the
-- host gives nothing.
local function unpark(authority, record, until_ms, most)
  local first, waits_ms = record.others.pm, record.others.e or 0
  if not first or first > until_ms then return 0 end
  local key, number, later = PREFIX .. 'p:' .. authority, 0, {}
  local looked_at = most or waits_ms > until_ms and PARKED_AT_ONCE or UNPARKED_AT_ONCE
  for _, member in ipairs(call('ZRANGEBYSCORE', key, '-inf', until_ms, 'LIMIT', 0, looked_at)) do
    local reason, element = string.match(member, '^(%Z*)%z(.*)$')
    if reason == EQUAL_PAGES and waits_ms > until_ms and is_trapped(record, element) then
      later[#later + 1], later[#later + 2] = waits_ms, member
    elseif number < (most or UNPARKED_AT_ONCE) then
      call('ZREM', key, member)
      add(reason_add, reason, -1)
      push(authority, record, element, reason ~= EQUAL_PAGES and not has_failed(element))
      number = number + 1
    end
  end
  if later[1] then call('ZADD', key, unpack(later)) end
  add(meta_add, 'parked', -number)
  local left = record.others.pn - number
  record.others.pn = left > 0 and left or nil
  if number > 0 and not most then record.next_ms = max(record.next_ms, until_ms) end
  note_unparks(authority, record)
  return number
end

local function forget_urls(authority, record)
  local number, parked = record.queued + (record.others.pn or 0), record.others.pn or 0
  for _, band in ipairs(bands_of(record)) do
    if record.inline == '' then call('UNLINK', queue_key(authority, band[1])) end
    count(record, band[1], -band[2])
  end
  record.inline = ''
  for start = 0, parked - 1, 1000 do
    for _, member in ipairs(call('ZRANGE', PREFIX .. 'p:' .. authority, start, start + 999)) do
      add(reason_add, string.match(member, '^%Z*'), -1)
    end
  end
  add(meta_add, 'parked', -parked)
  call('UNLINK', PREFIX .. 'p:' .. authority, PREFIX .. 'h:' .. authority)
  local others = others_of(record)
  others.pn, others.pm, others.h = nil, nil, nil
  unparks_of[authority] = false
  mark_changed(authority)
  return number
end

-- what pages embed (as in frontier/host.py) --------------------------------------------------------------------------

-- one table, since a script has no room for more names
local embedded = {}

-- whether it is of the best band, and of what a page embeds
local function is_requisite(element)
  if byte(element) % 4 ~= 0 or band_of(element) > 0 then return false end
  local _, _, place, length = header_of(element)
  local mark = SETTINGS.requisites
  return length >= #mark and sub(element, place + 2, place + 1 + #mark) == mark
end

-- Whether a page embeds what is first in the best band. So many others go to the end of the second band before, lest they
-- be met again and again while what pages embed alone is fetched.
function embedded.is_first(authority, record)
  for _ = 1, SETTINGS.opted_out_at_once do
    if byte(record.bands) ~= 0 then return false end
    local inline = record.inline
    local first = inline == '' and call('LINDEX', queue_key(authority, 0), 0) or sub(inline, 3, inline_end(inline, 1))
    if is_requisite(first) then return true end
    pop(authority, record, true)
    push(authority, record, sub(first, 1, 2) .. string.char(SETTINGS.second_band) .. sub(first, 4))
  end
  return false
end

-- when the first that a page embeds comes back, of the first PARKED_AT_ONCE
function embedded.parked_until(authority, record)
  if not record.others.pm then return nil end
  local parked = call('ZRANGE', PREFIX .. 'p:' .. authority, 0, PARKED_AT_ONCE - 1, 'WITHSCORES')
  for i = 1, #parked, 2 do
    if is_requisite(string.match(parked[i], '^%Z*%z(.*)$')) then return tonumber(parked[i + 1]) end
  end
  return nil
end
