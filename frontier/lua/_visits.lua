-- The layout of records, and the arithmetic of a visit; also for the quick ways of lease.lua and report.lua, which
-- see a record as a row of locals.
--
-- A record has what every transition needs in a struct, what most hosts lack in a msgpack map, and the URLs of a host
-- that has few. All of it is one value, so that a host costs one key, or less before its first lease (_newcomers.lua).
-- Layout, also known to frontier/wire.py:
--
--   2 bytes      flags (1 no newcomer, 2 a map, 4 the end of a lease must look at it, 8 its address is not its own
--                alone, or not known, 16 a lease must look at the map, 32 leased now), best band (8: no URL waits)
--   if flag 1    served (number of its last lease), next_ms, address_next_ms (when no other authority is known to have
--                the address, else -1), address_until_ms (end of its validity), queued, counts (bytes, pages, words,
--                balance of pages alike), last_fetch_ms, admitted; length of marks; marks of its last pages; robots_ms
--                (version), robots_expires_ms
--   if flag 32   lease (then flag 1, too): due, expires, key (its token's second half; served is the first), holds (1
--                when it holds the address), length of element; element ('' = the authority's own robots.txt)
--   if flag 1    length of address; address
--   if not       admitted, queued
--   always       length of bands; bands; length of inline; inline
--   if flag 2    others, a msgpack map with short names, since they are stored with each such host:
--                dl al delays of its own, of authority and address; mp mb most pages and bytes; cd crawl delay
--                g gr rest and its reason; rg rgr gate and its reason (nothing but robots.txt before); rr robots.txt
--                not asked for again before; rf its failures; f ft failures of the host, from when time forgives them
--                h redirected robots.txt that wait; pn pm parked URLs, the first to come back; qv URLs with a query;
--                tn URLs parked by a trap rule; e URLs of the last band wait until then, those of the sections es, or
--                all of them; z 1: paused by hand; w the address it stands in line for
--
-- bands: for each band with URLs, best first, the band (1 byte) and their number (4); inline: these URLs themselves in
-- the order they are fetched in, each with its length (2) in front, or '' when they are many and lie in lists.
--
-- What a report leaves alone stands behind what it changes, so that it need not be taken apart.
--
-- An address that one authority has, as most do in most crawls, costs neither a look nor a write: its next fetch is the
-- record's address_next_ms, the lease of the authority is its own, and i:ADDRESS only names the authority. When a
-- second one comes, what the record knew of the address moves there (read_address), for good.

local SERVED, MAPPED, ENDS_SLOWLY, SHARED, LOOKED, HELD = 1, 2, 4, 8, 16, 32
-- c0 is a text as long as the number before it; what may be long, inline, is put behind: struct packs byte by byte
local NEW, SERVED_BEFORE = '<BBI4I4Bc0H', '<BBddddI4c20I4I4Bc0ddBc0Bc0H'
local LEASED_NOW = '<BBddddI4c20I4I4Bc0ddddI4BI4c0Bc0Bc0H'
local AT = 64 -- who stands in 'due' and 'hot', a waiter, is an authority or '@ADDRESS'; this is the first byte of such
local RECORD_KEY, ADDRESS_KEY = PREFIX .. 'a:', PREFIX .. 'i:'
local MARKS_KEPT, MARK_BYTES = SETTINGS.marks_kept, SETTINGS.mark_bytes
local NO_OTHERS = {}
local records, texts = {}, {} -- by authority; false: none, of a text also: it is a newcomer's
local sets, sets_number = {}, 0 -- keys and values to be written
local dues, dues_number = {}, 0 -- places in 'due' and authorities
local ended, ended_number = {}, 0 -- authorities that have none

-- when the address allows it; at the end of its validity it is asked for anew, and may be another
local function start_by(next_ms, address_next_ms, address_until_ms)
  if address_next_ms > next_ms then return max(next_ms, min(address_next_ms, address_until_ms)) end
  return next_ms
end

local OBEY, REFRESH, REFRESH_SHARE = SETTINGS.obey, SETTINGS.robots_refresh, SETTINGS.refresh_share

-- whether a lease at `due` must be (no valid record) or should be (refresh) of its robots.txt; retry_ms: not before
local function robots_wanted(robots_ms, robots_expires_ms, retry_ms, due)
  if not OBEY then return false end
  local left = robots_expires_ms - due
  if left <= 0 then return true end
  return left < REFRESH and left < floor((robots_expires_ms - robots_ms) / REFRESH_SHARE) and retry_ms <= due
end

local DELAY, ADDRESS_DELAY = SETTINGS.delay, SETTINGS.address_delay
local FACTOR, ADAPTIVE_CAP = SETTINGS.factor, SETTINGS.adaptive_cap

-- delay of the authority, of its address, after a fetch of so many ms
local function delays_of(others, last_fetch_ms)
  local adaptive = FACTOR * last_fetch_ms
  adaptive = adaptive < ADAPTIVE_CAP and floor(adaptive) or ADAPTIVE_CAP
  local delay, address_delay = others.dl or DELAY, others.al or ADDRESS_DELAY
  local crawl_delay = others.cd
  if crawl_delay and crawl_delay > delay then delay = crawl_delay end
  return adaptive > delay and adaptive or delay, adaptive > address_delay and adaptive or address_delay
end

-- marks and balance after a page with this mark: the balance grows when it looks like one of the last different ones
local function marked(marks, balance, page_mark)
  local at = string.find(marks, page_mark, 1, true)
  while at and at % MARK_BYTES ~= 1 do at = string.find(marks, page_mark, at + 1, true) end
  if at then return marks, balance + 1 end
  return sub(marks .. page_mark, -MARKS_KEPT * MARK_BYTES), max(0, balance - 1)
end

-- a whole number as Redis wants it; Redis itself would write it as a fraction first, at five times the cost
local last_number, last_text
local function whole(number)
  if number ~= last_number then last_number, last_text = number, string.format('%d', number) end
  return last_text
end

local function set(key, value)
  sets[sets_number + 1], sets[sets_number + 2] = key, value
  sets_number = sets_number + 2
end

-- a place in 'due'; what due_of has of the authority is written later and counts
local function due_at(score, authority)
  dues[dues_number + 1], dues[dues_number + 2] = whole(score), authority
  dues_number = dues_number + 2
end

-- the texts of the first `most` waiters' records that are not known yet, in one call; an address has none
local function read_texts(waiters, most)
  local keys, asked, number = {}, {}, 0
  for i = 1, most or #waiters do
    local waiter = waiters[i]
    if not texts[waiter] then
      number = number + 1
      keys[number], asked[number] = RECORD_KEY .. waiter, waiter
    end
  end
  if number == 0 then return end
  local found = call('MGET', unpack(keys))
  for i = 1, number do texts[asked[i]] = found[i] end
end

-- writes what was set, and counted
local function write_visits()
  for i = 1, sets_number, 4000 do call('MSET', unpack(sets, i, min(i + 3999, sets_number))) end
  if dues_number > 0 then call('ZADD', PREFIX .. 'due', unpack(dues)) end
  if ended_number > 0 then call('ZREM', PREFIX .. 'due', unpack(ended)) end
  sets, sets_number, dues, dues_number, ended, ended_number = {}, 0, {}, 0, {}, 0
  for name, number in pairs(meta_add) do
    if number ~= 0 then call('HINCRBY', KEYS[1], name, number) end
    meta_add[name] = 0
  end
  for name, number in pairs(result_add) do call('HINCRBY', PREFIX .. 'results', name, number) end
  result_add = {}
end
