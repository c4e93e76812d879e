-- Records of authorities and of addresses: read, taken apart, made.
--
-- A record has what every transition needs in a struct, what most hosts lack in a msgpack map, and the URLs of a host that
-- has few. All of it is one value, so that a host costs one key. Layout, also known to frontier/wire.py:
--
--   2 bytes      flags (1 leased before, 2 a map, 4 look at all of it before it gets a place in line, 8 leased now), best
--                band
--   if flag 1    b number of its last lease, n next fetch, rv rx robots version and expiry, ix end of the address'
--                validity, by bytes, pg pages, wd words, lf last fetch; length of ip address; ip
--   if flag 8    the lease: du due, ex expires, tk its token's second half, hd 1 when it holds the address; length of
--                el; el the element ('' = the authority's own robots.txt)
--   always       ad admitted, qn queued, length of qs, length of i; qs, i
--   if flag 2    the others, msgpack map with the short names given in frontier/host.py
--
-- qs: for each band with URLs, best first, the band (1 byte) and their number (4); i: these URLs themselves in the order
-- they are fetched in, each with its length (2) in front, or '' when they are many and lie in lists.

local SERVED, MAPPED, LOOKED, HELD = 1, 2, 4, 8
local CORE, LEASE, REST = '>BBddddddI4I4I4B', '>ddI4BI4', '>I4I4BH'
local NO_OTHERS = {}
local A_PREFIX, I_PREFIX = P .. 'a:', P .. 'i:'
local texts, records, changed_records = {}, {}, {}
local addresses, changed_addresses = {}, {}

local function decode_record(text)
  local flags, _, b, n, rv, rx, ix, by, pg, wd, lf, ips, place = byte(text), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3
  local address, rest, du, ex, tk, hd, el
  if flags % 2 == SERVED then
    _, _, b, n, rv, rx, ix, by, pg, wd, lf, ips, address = unpack_struct(CORE, text)
    place = address + ips
  end
  if flags >= HELD then
    du, ex, tk, hd, el, rest = unpack_struct(LEASE, text, place)
    place = rest + el
    el = sub(text, rest, place - 1)
  end
  local ad, qn, bands, inline, queue = unpack_struct(REST, text, place)
  local elements = queue + bands
  local others = elements + inline
  return {
    b = b, n = n, rv = rv, rx = rx, ix = ix, by = by, pg = pg, wd = wd, lf = lf, ad = ad, qn = qn,
    du = du, ex = ex, tk = tk, hd = hd, el = el,
    ip = ips > 0 and sub(text, address, address + ips - 1) or nil,
    qs = bands > 0 and sub(text, queue, elements - 1) or '',
    i = inline > 0 and sub(text, elements, others - 1) or '',
    o = others <= #text and cmsgpack.unpack(sub(text, others)) or NO_OTHERS,
  }
end

local function encode_record(record)
  local qs, inline, others = record.qs, record.i, record.o
  local flags, map = 0, ''
  if next(others) then
    flags, map = MAPPED, cmsgpack.pack(others)
    if others.pm or others.mp or others.mb then flags = flags + LOOKED end
  end
  local best = qs == '' and BANDS - 1 or byte(qs)
  local rest = pack_struct(REST, record.ad, record.qn, #qs, #inline)
  if record.b == 0 then return string.char(flags, best) .. rest .. qs .. inline .. map end
  local ip, element, lease = record.ip or '', record.el, ''
  if element then
    flags = flags + HELD
    lease = pack_struct(LEASE, record.du, record.ex, record.tk, record.hd, #element) .. element
  end
  return pack_struct(CORE, flags + SERVED, best, record.b, record.n, record.rv, record.rx, record.ix, record.by,
    record.pg, record.wd, record.lf, #ip) .. ip .. lease .. rest .. qs .. inline .. map
end

-- the place in line that a text's authority has when it is due; nil when all of its record must be looked at
local function score_in(text)
  local flags, best = byte(text, 1, 2)
  if flags >= LOOKED then return nil end
  return best * BAND_UNIT + (flags % 2 == SERVED and unpack_struct('>d', text, 3) or 0)
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

-- the texts of records that are not loaded yet, in one call
local function read_texts(authorities)
  local keys, asked, number = {}, {}, 0
  for i = 1, #authorities do
    local authority = authorities[i]
    if records[authority] == nil and not texts[authority] then
      number = number + 1
      keys[number], asked[number] = A_PREFIX .. authority, authority
    end
  end
  if number == 0 then return end
  local found = call('MGET', unpack(keys))
  for i = 1, number do texts[asked[i]] = found[i] end
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
    known_add[#known_add + 1] = authority
  end
  changed_records[authority] = true
  return record
end

-- an address: n next fetch, w 1 when authorities wait for it (or did), h 1 when a lease holds it
local function read_address(ip, text)
  local n, w, h = 0, 0, 0
  if text then n, w, h = unpack_struct('>dBB', text) end
  local state = { n = n, w = w, h = h }
  addresses[ip] = state
  return state
end

local function load_address(ip)
  return addresses[ip] or read_address(ip, call('GET', I_PREFIX .. ip))
end

local function load_addresses(ips)
  local keys = {}
  for i = 1, #ips do keys[i] = I_PREFIX .. ips[i] end
  if not keys[1] then return end
  local found = call('MGET', unpack(keys))
  for i = 1, #ips do read_address(ips[i], found[i]) end
end
