-- Records of authorities and of addresses: read, taken apart, made.

local ADDRESS = '<BBd'
local NEW_INLINE, SERVED_INLINE, LEASED_INLINE = NEW .. 'c0', SERVED_BEFORE .. 'c0', LEASED_NOW .. 'c0'
local COUNTS = '<dI4I4I4' -- not taken apart with the rest: a Lua table of more than 16 fields costs twice as much
local NO_COUNTS = pack_struct(COUNTS, 0, 0, 0, 0)
local changed_records = {} -- by authority: true, or the text to write when it is known already
local addresses = {}

local function decode_record(text)
  local flags, _, served, next_ms, address_next_ms, address_until_ms = byte(text), 0, 0, 0, -1, 0
  local counts, last_fetch_ms, admitted, marks, robots_ms, robots_expires_ms, address = NO_COUNTS, 0, 0, '', 0, 0, ''
  local queued, bands, inline, lease, due, expires, key, holds, element, place
  if flags >= HELD then
    _, _, served, next_ms, address_next_ms, address_until_ms, queued, counts, last_fetch_ms, admitted, marks, robots_ms,
      robots_expires_ms, due, expires, key, holds, element, address, bands, inline, place =
      unpack_struct(LEASED_INLINE, text)
    lease = { due = due, expires = expires, key = key, holds = holds, element = element }
  elseif flags % 2 == SERVED then
    _, _, served, next_ms, address_next_ms, address_until_ms, queued, counts, last_fetch_ms, admitted, marks, robots_ms,
      robots_expires_ms, address, bands, inline, place = unpack_struct(SERVED_INLINE, text)
  else
    _, _, admitted, queued, bands, inline, place = unpack_struct(NEW_INLINE, text)
  end
  return {
    served = served, next_ms = next_ms, address_next_ms = address_next_ms, address_until_ms = address_until_ms,
    counts = counts, last_fetch_ms = last_fetch_ms, admitted = admitted, marks = marks, robots_ms = robots_ms,
    robots_expires_ms = robots_expires_ms, address = address, queued = queued, bands = bands, inline = inline,
    lease = lease, others = place <= #text and cmsgpack.unpack(sub(text, place)) or NO_OTHERS,
  }
end

-- the flags that say who has to look at the map
local function map_flags(others, next_ms)
  local flags, failed = MAPPED, (others.f or 0) > 0
  if others.dl or others.al or others.cd or others.rr or others.e or failed then flags = flags + ENDS_SLOWLY end
  local rest_ms = max(others.g or 0, others.rg or 0)
  -- of one that has failed the next URL may be of another band than the best
  if failed or rest_ms > next_ms or others.pm or others.mp or others.mb or others.h or others.z or others.w then
    flags = flags + LOOKED
  end
  return flags
end

-- whether all there is of it has room in a bucket: it had no lease yet, nor will have one before an instant
local function is_newcomer(record)
  return record.served == 0 and record.next_ms == 0
end

local function encode_record(record)
  local bands, inline, others, lease = record.bands, record.inline, record.others, record.lease
  local address, marks = record.address, record.marks
  local flags, best, behind, core = SERVED, byte(bands) or BANDS, '', nil
  if record.address_next_ms < 0 or address == '' then flags = flags + SHARED end
  if next(others) then flags, behind = flags + map_flags(others, record.next_ms), cmsgpack.pack(others) end
  if lease then
    local element = lease.element
    core = pack_struct(LEASED_NOW, flags + HELD, best, record.served, record.next_ms, record.address_next_ms,
      record.address_until_ms, record.queued, record.counts, record.last_fetch_ms, record.admitted, #marks, marks,
      record.robots_ms, record.robots_expires_ms, lease.due, lease.expires, lease.key, lease.holds, #element, element,
      #address, address, #bands, bands, #inline)
  elseif is_newcomer(record) then
    core = pack_struct(NEW, flags - SERVED, best, record.admitted, record.queued, #bands, bands, #inline)
  else
    core = pack_struct(SERVED_BEFORE, flags, best, record.served, record.next_ms, record.address_next_ms,
      record.address_until_ms, record.queued, record.counts, record.last_fetch_ms, record.admitted, #marks, marks,
      record.robots_ms, record.robots_expires_ms, #address, address, #bands, bands, #inline)
  end
  return core .. inline .. behind
end

-- bytes, pages, words, balance of pages alike
local function counts_of(record)
  return unpack_struct(COUNTS, record.counts)
end

local function set_counts(record, ...)
  record.counts = pack_struct(COUNTS, ...)
end

-- the map of what most records lack, to be changed
local function others_of(record)
  if record.others == NO_OTHERS then record.others = {} end
  return record.others
end

local function text_of(authority)
  local text = texts[authority]
  if text == nil then
    text = call('GET', RECORD_KEY .. authority)
    texts[authority] = text
  end
  return text or newcomer(authority)
end

local function load_record(authority)
  local record = records[authority]
  if record == nil then
    local text = text_of(authority)
    record = text and decode_record(text) or false
    records[authority] = record
  end
  return record
end

-- to be written at the end
local function mark_changed(authority)
  changed_records[authority] = true
end

local function text_to_write(authority, record)
  local text = encode_record(record)
  changed_records[authority] = text
  return text
end

local function ensure_record(authority)
  local record = load_record(authority)
  if not record then
    record = {
      served = 0, next_ms = 0, address_next_ms = -1, address_until_ms = 0, counts = NO_COUNTS, last_fetch_ms = 0,
      admitted = 0, marks = '', robots_ms = 0, robots_expires_ms = 0, address = '', queued = 0, bands = '', inline = '',
      others = NO_OTHERS,
    }
    records[authority] = record
    new_add[#new_add + 1] = authority
  end
  changed_records[authority] = true
  return record
end

-- the state of an address: waited_for 1 when authorities wait for it (or did), held 1 when a lease holds it, next_ms;
-- changed true when it must be written
local function read_address(ip, text)
  local state = { waited_for = 0, held = 0, next_ms = 0, changed = false }
  if text and byte(text) < 2 then
    state.waited_for, state.held, state.next_ms = unpack_struct(ADDRESS, text)
  elseif text then
    local owner = load_record(text)
    state.held, state.next_ms, state.changed = owner.lease and owner.lease.holds or 0, owner.address_next_ms, true
    owner.address_next_ms = -1
    mark_changed(text)
  end
  addresses[ip] = state
  return state
end

local function load_address(ip)
  return addresses[ip] or read_address(ip, call('GET', ADDRESS_KEY .. ip))
end

-- `asked`: those that are not loaded yet, in one call
local function load_addresses(asked)
  if not asked[1] then return end
  local keys = {}
  for i = 1, #asked do keys[i] = ADDRESS_KEY .. asked[i] end
  local found = call('MGET', unpack(keys))
  for i = 1, #asked do read_address(asked[i], found[i]) end
end

-- what the first `most` waiters need: newcomers' buckets, and addresses that are not an authority's alone; in two calls
local function read_ahead(waiters, most)
  local newcomers, asked = {}, {}
  for i = 1, most do
    local waiter = waiters[i]
    if records[waiter] == nil and texts[waiter] == false then newcomers[#newcomers + 1] = waiter end
  end
  read_buckets(newcomers)
  for i = 1, most do
    local text = texts[waiters[i]]
    local record = text and byte(text) % LOOKED >= SHARED and load_record(waiters[i])
    local address = record and record.address_next_ms < 0 and record.address or ''
    if address ~= '' and not addresses[address] then asked[#asked + 1] = address end
  end
  load_addresses(asked)
end

local function write_records()
  for authority, text in pairs(changed_records) do
    local record = records[authority]
    if text == true then text = encode_record(record) end
    if is_newcomer(record) then
      set_newcomer(authority, text)
    else
      set(RECORD_KEY .. authority, text)
      if not texts[authority] then set_newcomer(authority, '') end -- until now it was one
    end
  end
  write_buckets()
  for ip, state in pairs(addresses) do
    if state.changed then set(ADDRESS_KEY .. ip, pack_struct(ADDRESS, state.waited_for, state.held, state.next_ms)) end
  end
end
