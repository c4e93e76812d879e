-- Records of authorities and of addresses: read, taken apart, made.
--
-- A record has what every transition needs in a struct, what most hosts lack in a msgpack map, and the URLs of a host that
-- has few. All of it is one value, so that a host costs one key, or less before its first lease (_newcomers.lua). Layout,
-- also known to frontier/wire.py:
--
--   2 bytes      flags (1 leased before, 2 a map, 4 look at all of it before it gets a place in line, 8 leased now), best
--                band
--   if flag 1    b number of its last lease, n next fetch, rv rx robots version and expiry, ix end of the address'
--                validity, an next fetch of the address when no other authority is known to have it (else -1), cs the
--                counts by bytes, pg pages, wd words; lf last fetch; length of ip address; ip
--   always       ad admitted, qn queued; length of qs; qs
--   if flag 8    l the lease (then flag 1, too): due, expires, key (its token's second half; b is the first), holds (1
--                when it holds the address), length of element; element ('' = the authority's own robots.txt)
--   always       length of i; i
--   if flag 2    the others, msgpack map with the short names given in frontier/host.py
--
-- qs: for each band with URLs, best first, the band (1 byte) and their number (4); i: these URLs themselves in the order
-- they are fetched in, each with its length (2) in front, or '' when they are many and lie in lists.
--
-- An address that one authority has, as most do in most crawls, costs neither a look nor a write: its next fetch is the
-- record's `an`, the lease of the authority is its own, and i:ADDRESS only names the authority. When a second one comes,
-- what the record knew of the address moves there (read_address), for good.

local SERVED, MAPPED, LOOKED, HELD = 1, 2, 4, 8
local AT = 64 -- the first byte of '@ADDRESS' in 'due' and 'hot'
-- c0 is a text as long as the number before it; what may be long, i, is put behind, since struct packs byte by byte
local NEW, SERVED_BEFORE = '<BBI4I4Bc0H', '<BBddddddc16I4Bc0I4I4Bc0H'
local LEASED_NOW, ADDRESS = '<BBddddddc16I4Bc0I4I4Bc0ddI4BI4c0H', '<BBd'
local NEW_WITH_I, SERVED_WITH_I, LEASED_WITH_I = NEW .. 'c0', SERVED_BEFORE .. 'c0', LEASED_NOW .. 'c0'
local COUNTS = '<dI4I4' -- not taken apart with the rest: a Lua table of more than 16 fields costs twice as much
local NO_COUNTS, NO_OTHERS = pack_struct(COUNTS, 0, 0, 0), {}
local A_PREFIX, I_PREFIX = P .. 'a:', P .. 'i:'
local texts, records, changed_records = {}, {}, {}
local addresses = {}

local function decode_record(text)
  local flags, _, b, n, rv, rx, ix, an, cs, lf, ip, ad, qn, qs, i = byte(text), 0, 0, 0, 0, 0, 0, -1, NO_COUNTS, 0, ''
  local lease, due, expires, key, holds, element, place
  if flags >= HELD then
    _, _, b, n, rv, rx, ix, an, cs, lf, ip, ad, qn, qs, due, expires, key, holds, element, i, place =
      unpack_struct(LEASED_WITH_I, text)
    lease = { due = due, expires = expires, key = key, holds = holds, element = element }
  elseif flags % 2 == SERVED then
    _, _, b, n, rv, rx, ix, an, cs, lf, ip, ad, qn, qs, i, place = unpack_struct(SERVED_WITH_I, text)
  else
    _, _, ad, qn, qs, i, place = unpack_struct(NEW_WITH_I, text)
  end
  return {
    b = b, n = n, rv = rv, rx = rx, ix = ix, an = an, cs = cs, lf = lf, ip = ip, ad = ad, qn = qn, qs = qs, i = i,
    l = lease, o = place <= #text and cmsgpack.unpack(sub(text, place)) or NO_OTHERS,
  }
end

local function encode_record(record)
  local qs, inline, others, lease, ip = record.qs, record.i, record.o, record.l, record.ip
  local flags, best, behind, core = SERVED, qs == '' and BANDS - 1 or byte(qs), '', nil
  if next(others) then
    flags, behind = flags + MAPPED, cmsgpack.pack(others)
    if others.pm or others.mp or others.mb then flags = flags + LOOKED end
  end
  if lease then
    local element = lease.element
    core = pack_struct(LEASED_NOW, flags + HELD, best, record.b, record.n, record.rv, record.rx, record.ix, record.an,
      record.cs, record.lf, #ip, ip, record.ad, record.qn, #qs, qs, lease.due, lease.expires, lease.key, lease.holds,
      #element, element, #inline)
  elseif record.b == 0 then
    core = pack_struct(NEW, flags - SERVED, best, record.ad, record.qn, #qs, qs, #inline)
  else
    core = pack_struct(SERVED_BEFORE, flags, best, record.b, record.n, record.rv, record.rx, record.ix, record.an,
      record.cs, record.lf, #ip, ip, record.ad, record.qn, #qs, qs, #inline)
  end
  return core .. inline .. behind
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

local function text_of(authority)
  local text = texts[authority]
  if text == nil then
    text = call('GET', A_PREFIX .. authority)
    texts[authority] = text
  end
  return text or newcomer(authority)
end

local function load(authority)
  local record = records[authority]
  if record == nil then
    local text = text_of(authority)
    record = text and decode_record(text) or false
    records[authority] = record
  end
  return record
end

local ASKED = 0

-- the texts of the first `most` units' records that are not loaded yet, in one call (false: none, or a newcomer's);
-- addresses are passed over
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
    record = { b = 0, n = 0, rv = 0, rx = 0, ix = 0, an = -1, cs = NO_COUNTS, lf = 0, ip = '', ad = 0, qn = 0,
      qs = '', i = '', o = NO_OTHERS }
    records[authority] = record
    new_add[#new_add + 1] = authority
  end
  changed_records[authority] = true
  return record
end

-- an address: w 1 when authorities wait for it (or did), h 1 when a lease holds it, n next fetch; c true when it changed
local function read_address(ip, text)
  local w, h, n, c = 0, 0, 0, false
  if text and byte(text) < 2 then
    w, h, n = unpack_struct(ADDRESS, text)
  elseif text then
    local owner = load(text)
    h, n, c = owner.l and owner.l.holds or 0, owner.an, true
    owner.an = -1
    change(text)
  end
  local state = { w = w, h = h, n = n, c = c }
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
