-- Records of authorities and of addresses: read, taken apart, made.
--
-- A record has what every transition needs in a struct, what most hosts lack in a msgpack map, and the URLs of a host that
-- has few. All of it is one value, so that a host costs one key. Layout, also known to frontier/wire.py:
--
--   2 bytes      flags (1 leased before, 2 a map, 4 look at all of it before it gets a place in line, 8 leased now), best
--                band
--   if flag 1    b number of its last lease, n next fetch, rv rx robots version and expiry, ix end of the address'
--                validity, by bytes, pg pages, wd words, lf last fetch; length of ip address; ip
--   always       ad admitted, qn queued; length of qs; qs; length of i; i
--   if flag 8    l the lease: due, expires, key (its token's second half; b is the first), holds (1 when it holds the
--                address), length of element; element ('' = the authority's own robots.txt)
--   if flag 2    the others, msgpack map with the short names given in frontier/host.py
--
-- qs: for each band with URLs, best first, the band (1 byte) and their number (4); i: these URLs themselves in the order
-- they are fetched in, each with its length (2) in front, or '' when they are many and lie in lists.

local SERVED, MAPPED, LOOKED, HELD = 1, 2, 4, 8
local AT = 64 -- the first byte of '@ADDRESS' in 'due' and 'hot'
local NEW, SERVED_BEFORE = '<BBI4I4Bc0Hc0', '<BBddddddI4I4I4Bc0I4I4Bc0Hc0' -- c0: a text as long as the number before it
local LEASE, ADDRESS = '<ddI4BI4c0', '<dBB'
local NO_OTHERS = {}
local A_PREFIX, I_PREFIX = P .. 'a:', P .. 'i:'
local texts, records, changed_records = {}, {}, {}
local addresses = {}

local function decode_record(text)
  local flags, _, b, n, rv, rx, ix, by, pg, wd, lf, ip, ad, qn, qs, i, place = byte(text), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  if flags % 2 == SERVED then
    _, _, b, n, rv, rx, ix, by, pg, wd, lf, ip, ad, qn, qs, i, place = unpack_struct(SERVED_BEFORE, text)
    if ip == '' then ip = nil end
  else
    _, _, ad, qn, qs, i, place = unpack_struct(NEW, text)
  end
  local lease
  if flags >= HELD then
    lease = {}
    lease.due, lease.expires, lease.key, lease.holds, lease.element, place = unpack_struct(LEASE, text, place)
  end
  return {
    b = b, n = n, rv = rv, rx = rx, ix = ix, by = by, pg = pg, wd = wd, lf = lf, ad = ad, qn = qn, qs = qs, i = i,
    l = lease, ip = ip, o = place <= #text and cmsgpack.unpack(sub(text, place)) or NO_OTHERS,
  }
end

local function encode_record(record)
  local qs, inline, others, lease, ip = record.qs, record.i, record.o, record.l, record.ip or ''
  local flags, best, behind = 0, qs == '' and BANDS - 1 or byte(qs), ''
  if lease then
    local element = lease.element
    flags, behind = HELD, pack_struct(LEASE, lease.due, lease.expires, lease.key, lease.holds, #element, element)
  end
  if next(others) then
    flags, behind = flags + MAPPED, behind .. cmsgpack.pack(others)
    if others.pm or others.mp or others.mb then flags = flags + LOOKED end
  end
  if record.b == 0 then
    return pack_struct(NEW, flags, best, record.ad, record.qn, #qs, qs, #inline, inline) .. behind
  end
  return pack_struct(SERVED_BEFORE, flags + SERVED, best, record.b, record.n, record.rv, record.rx, record.ix, record.by,
    record.pg, record.wd, record.lf, #ip, ip, record.ad, record.qn, #qs, qs, #inline, inline) .. behind
end

-- the place in line that a text's authority has when it is due; nil when all of its record must be looked at
local function score_in(text)
  local flags, best = byte(text, 1, 2)
  if flags >= LOOKED then return nil end
  return best * BAND_UNIT + (flags % 2 == SERVED and unpack_struct('<d', text, 3) or 0)
end

-- the map of what most records lack, to be changed
local function others_of(record)
  if record.o == NO_OTHERS then record.o = {} end
  return record.o
end

local function load(authority)
  local record = records[authority]
  if record == nil then
    local text = texts[authority] or call('GET', A_PREFIX .. authority)
    record = text and decode_record(text) or false
    records[authority] = record
  end
  return record
end

local ASKED = 0

-- the texts of the first `most` units' records that are not loaded yet, in one call; addresses are passed over
local function read_texts(units, most)
  local keys, number = {}, 0
  most = most or #units
  for i = 1, most do
    local unit = units[i]
    if records[unit] == nil and not texts[unit] and byte(unit) ~= AT then
      number = number + 1
      keys[number], texts[unit] = A_PREFIX .. unit, ASKED
    end
  end
  if number == 0 then return end
  local found = call('MGET', unpack(keys))
  number = 0
  for i = 1, most do
    local unit = units[i]
    if texts[unit] == ASKED then
      number = number + 1
      texts[unit] = found[number]
    end
  end
end

local function change(authority)
  changed_records[authority] = true
end

local function make(authority)
  local record = load(authority)
  if not record then
    record = { b = 0, n = 0, rv = 0, rx = 0, ix = 0, by = 0, pg = 0, wd = 0, lf = 0, o = NO_OTHERS,
      ad = 0, qn = 0, qs = '', i = '' }
    records[authority] = record
    new_add[#new_add + 1] = authority
  end
  changed_records[authority] = true
  return record
end

-- an address: n next fetch, w 1 when authorities wait for it (or did), h 1 when a lease holds it; c true when it changed
local function read_address(ip, text)
  local n, w, h = 0, 0, 0
  if text then n, w, h = unpack_struct(ADDRESS, text) end
  local state = { n = n, w = w, h = h, c = false }
  addresses[ip] = state
  return state
end

local function load_address(ip)
  return addresses[ip] or read_address(ip, call('GET', I_PREFIX .. ip))
end

-- `asked`: those that are not loaded yet, in one call
local function load_addresses(asked)
  if not asked[1] then return end
  local keys = {}
  for i = 1, #asked do keys[i] = I_PREFIX .. asked[i] end
  local found = call('MGET', unpack(keys))
  for i = 1, #asked do read_address(asked[i], found[i]) end
end
