-- Records of authorities and of addresses: read, taken apart, made.

local ADDRESS = '<BBd'
local NEW_WITH_I, SERVED_WITH_I, LEASED_WITH_I = NEW .. 'c0', SERVED_BEFORE .. 'c0', LEASED_NOW .. 'c0'
local COUNTS = '<dI4I4I4' -- not taken apart with the rest: a Lua table of more than 16 fields costs twice as much
local NO_COUNTS = pack_struct(COUNTS, 0, 0, 0, 0)
local changed_records = {}
local addresses = {}

local function decode_record(text)
  local flags, _, b, n, an, ix, cs = byte(text), 0, 0, 0, -1, 0, NO_COUNTS
  local lf, ad, mk, rv, rx, ip, qn, qs, i = 0, 0, '', 0, 0, ''
  local lease, due, expires, key, holds, element, place
  if flags >= HELD then
    _, _, b, n, an, ix, qn, cs, lf, ad, mk, rv, rx, due, expires, key, holds, element, ip, qs, i, place =
      unpack_struct(LEASED_WITH_I, text)
    lease = { due = due, expires = expires, key = key, holds = holds, element = element }
  elseif flags % 2 == SERVED then
    _, _, b, n, an, ix, qn, cs, lf, ad, mk, rv, rx, ip, qs, i, place = unpack_struct(SERVED_WITH_I, text)
  else
    _, _, ad, qn, qs, i, place = unpack_struct(NEW_WITH_I, text)
  end
  return {
    b = b, n = n, an = an, ix = ix, cs = cs, lf = lf, ad = ad, mk = mk, rv = rv, rx = rx, ip = ip, qn = qn, qs = qs,
    i = i, l = lease, o = place <= #text and cmsgpack.unpack(sub(text, place)) or NO_OTHERS,
  }
end

-- the flags that say who has to look at the map
local function map_flags(others, n)
  local flags = MAPPED
  if others.dl or others.al or others.cd or (others.f or 0) > 0 then flags = flags + ENDS_SLOWLY end
  local rest_ms = max(others.g or 0, others.rg or 0)
  if rest_ms > n or others.pm or others.mp or others.mb or others.h or others.z or others.w then
    flags = flags + LOOKED
  end
  return flags
end

local function encode_record(record)
  local qs, inline, others, lease, ip, mk = record.qs, record.i, record.o, record.l, record.ip, record.mk
  local flags, best, behind, core = SERVED, byte(qs) or BANDS, '', nil
  if record.an < 0 or ip == '' then flags = flags + SHARED end
  if next(others) then flags, behind = flags + map_flags(others, record.n), cmsgpack.pack(others) end
  if lease then
    local element = lease.element
    core = pack_struct(LEASED_NOW, flags + HELD, best, record.b, record.n, record.an, record.ix, record.qn, record.cs,
      record.lf, record.ad, #mk, mk, record.rv, record.rx, lease.due, lease.expires, lease.key, lease.holds,
      #element, element, #ip, ip, #qs, qs, #inline)
  elseif record.b == 0 then
    core = pack_struct(NEW, flags - SERVED, best, record.ad, record.qn, #qs, qs, #inline)
  else
    core = pack_struct(SERVED_BEFORE, flags, best, record.b, record.n, record.an, record.ix, record.qn, record.cs,
      record.lf, record.ad, #mk, mk, record.rv, record.rx, #ip, ip, #qs, qs, #inline)
  end
  return core .. inline .. behind
end

-- bytes, pages, words, balance of pages alike
local function counts_of(record)
  return unpack_struct(COUNTS, record.cs)
end

local function set_counts(record, ...)
  record.cs = pack_struct(COUNTS, ...)
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

-- of what changed: true, or its text when that is known already
local function change(authority)
  changed_records[authority] = true
end

local function text_to_write(authority, record)
  local text = encode_record(record)
  changed_records[authority] = text
  return text
end

local function make(authority)
  local record = load(authority)
  if not record then
    record = { b = 0, n = 0, rv = 0, rx = 0, ix = 0, an = -1, cs = NO_COUNTS, lf = 0, ip = '', ad = 0, mk = '',
      qn = 0, qs = '', i = '', o = NO_OTHERS }
    records[authority] = record
    new_add[#new_add + 1] = authority
  end
  changed_records[authority] = true
  return record
end

-- an address: w 1 when authorities wait for it (or did), h 1 when a lease holds it, n next fetch; c true when it
-- changed
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

-- what the first `most` units need: newcomers' buckets, and addresses that are not an authority's alone; in two calls
local function read_ahead(units, most)
  local newcomers, asked = {}, {}
  for i = 1, most do
    local unit = units[i]
    if records[unit] == nil and texts[unit] == false then newcomers[#newcomers + 1] = unit end
  end
  read_buckets(newcomers)
  for i = 1, most do
    local text = texts[units[i]]
    local record = text and byte(text) % LOOKED >= SHARED and load(units[i])
    if record and record.an < 0 and record.ip ~= '' and not addresses[record.ip] then asked[#asked + 1] = record.ip end
  end
  load_addresses(asked)
end

local function write_records()
  for authority, text in pairs(changed_records) do
    local record = records[authority]
    if text == true then text = encode_record(record) end
    if record.b == 0 then
      set_newcomer(authority, text)
    else
      set(A_PREFIX .. authority, text)
      if not texts[authority] then set_newcomer(authority, '') end -- until now it was one
    end
  end
  write_buckets()
  for ip, state in pairs(addresses) do
    if state.c then set(I_PREFIX .. ip, pack_struct(ADDRESS, state.w, state.h, state.n)) end
  end
end
