-- What all transitions share; put in front of each of the other files, so that each is one script and one atomic step.
--
-- KEYS[1]  {crawl}:f:meta, which also gives the prefix of all other keys (see frontier/keys.py; all lie in one slot)
-- ARGV[1]  msgpack map: the crawl's settings (frontier/wire.py); `now` only in tests, else the time is Redis' own
-- ARGV[2]  msgpack: the transition's own arguments
-- returns  msgpack
--
-- Units: instants in epoch ms, durations in ms. Records of authorities are msgpack maps with the short names given in
-- frontier/host.py, zero and empty values left out. Everything read is kept in tables and written once by commit().

local P = string.sub(KEYS[1], 1, -5)
local C = cmsgpack.unpack(ARGV[1])
local A = cmsgpack.unpack(ARGV[2])
local call = redis.call
local floor, max, min = math.floor, math.max, math.min
local BANDS, FAR = 8, 2 ^ 62
local BAND_UNIT = 2 ^ 44
local now = C.now
if not now then
  local t = call('TIME')
  now = t[1] * 1000 + floor(t[2] / 1000)
end

local records, changed_records = {}, {}
local addresses, changed_addresses = {}, {}
local due_of, hot_of, unparks_of = {}, {}, {}
local meta_add, result_add, reason_add = {}, {}, {}
local known_add, expiry_add, lease_add = {}, {}, {}

-- records ------------------------------------------------------------------------------------------------------------

-- A record's most used fields lie in a struct, half the cost of a map; the others, mostly absent, in a msgpack map behind.
-- n next fetch, rv rx robots version and expiry, ix end of the address' validity, b last lease, by bytes, ad admitted,
-- pg pages, wd words, lf last fetch, qn queued, qs queued by band (8 numbers, taken apart only when asked for);
-- t token, ip address.
local CORE = '>ddddddI4I4I4I4I4BB'
local BY_BAND, NONE_BY_BAND = '>I4I4I4I4I4I4I4I4', string.rep('\0', 32)
local OTHERS = { 'g', 'gr', 'rg', 'rgr', 'rr', 'rf', 'cd', 'f', 'ft', 'h', 'pn', 'pm', 'z', 'w', 'dl', 'al', 'mp',
  'mk', 'mc', 'qv', 'tn' }

local function decode_record(text)
  local n, rv, rx, ix, b, by, ad, pg, wd, lf, qn, tokens, ips, place = struct.unpack(CORE, text)
  local by_band = string.sub(text, place, place + 31)
  place = place + 32
  local tail = place + tokens + ips
  local record = {
    n = n, rv = rv, rx = rx, ix = ix, b = b, by = by, ad = ad, pg = pg, wd = wd, lf = lf, qn = qn,
    qs = by_band, q = nil,
    t = tokens > 0 and string.sub(text, place, place + tokens - 1) or nil,
    ip = ips > 0 and string.sub(text, place + tokens, tail - 1) or nil,
  }
  if tail <= #text then
    for name, value in pairs(cmsgpack.unpack(string.sub(text, tail))) do record[name] = value end
  end
  return record
end

local function encode_record(record)
  local q, token, ip, others = record.q, record.t or '', record.ip or '', nil
  local by_band = q and struct.pack(BY_BAND, q[1], q[2], q[3], q[4], q[5], q[6], q[7], q[8]) or record.qs
  for i = 1, #OTHERS do
    local value = record[OTHERS[i]]
    if value then
      others = others or {}
      others[OTHERS[i]] = value
    end
  end
  return struct.pack(CORE, record.n, record.rv, record.rx, record.ix, record.b, record.by, record.ad, record.pg,
    record.wd, record.lf, record.qn, #token, #ip) .. by_band .. token .. ip .. (others and cmsgpack.pack(others) or '')
end

local function new_record()
  return { n = 0, rv = 0, rx = 0, ix = 0, b = 0, by = 0, ad = 0, pg = 0, wd = 0, lf = 0, qn = 0,
    qs = NONE_BY_BAND }
end

-- array of the numbers queued by band
local function by_band_of(record)
  if not record.q then record.q = { struct.unpack(BY_BAND, record.qs) } end
  return record.q
end

local function load(authority)
  local record = records[authority]
  if record == nil then
    local text = call('GET', P .. 'a:' .. authority)
    record = text and decode_record(text) or false
    records[authority] = record
  end
  return record
end

local function load_many(authorities)
  local keys, asked = {}, {}
  for _, authority in ipairs(authorities) do
    if records[authority] == nil then
      keys[#keys + 1] = P .. 'a:' .. authority
      asked[#asked + 1] = authority
    end
  end
  if #keys == 0 then return end
  local texts = call('MGET', unpack(keys))
  for i, authority in ipairs(asked) do
    records[authority] = texts[i] and decode_record(texts[i]) or false
  end
end

local function change(authority)
  changed_records[authority] = true
end

local function make(authority)
  local record = load(authority)
  if not record then
    record = new_record()
    records[authority] = record
    known_add[#known_add + 1] = now
    known_add[#known_add + 1] = authority
  end
  change(authority)
  return record
end

-- an address: n next fetch, w 1 when authorities wait for it (or did), t token that holds it or ''
local function read_address(ip, text)
  local state = { n = 0, w = 0, t = '' }
  if text then
    local place
    state.n, state.w, place = struct.unpack('>dB', text)
    state.t = string.sub(text, place)
  end
  addresses[ip] = state
  return state
end

local function load_address(ip)
  return addresses[ip] or read_address(ip, call('HGET', P .. 'addresses', ip))
end

local function load_addresses(ips)
  if #ips == 0 then return end
  local texts = call('HMGET', P .. 'addresses', unpack(ips))
  for i, ip in ipairs(ips) do read_address(ip, texts[i]) end
end

local function add(counts, name, number)
  counts[name] = (counts[name] or 0) + number
end

-- writing ------------------------------------------------------------------------------------------------------------

local function flush_zset(key, wanted)
  local adds, removes = {}, {}
  for member, score in pairs(wanted) do
    if score then
      adds[#adds + 1] = score
      adds[#adds + 1] = member
    else
      removes[#removes + 1] = member
    end
  end
  for i = 1, #removes, 4000 do
    call('ZREM', P .. key, unpack(removes, i, min(i + 3999, #removes)))
  end
  for i = 1, #adds, 4000 do
    call('ZADD', P .. key, unpack(adds, i, min(i + 3999, #adds)))
  end
end

local function flush_places()
  flush_zset('due', due_of)
  flush_zset('hot', hot_of)
  due_of, hot_of = {}, {}
end

local function commit()
  local sets = {}
  for authority in pairs(changed_records) do
    sets[#sets + 1] = P .. 'a:' .. authority
    sets[#sets + 1] = encode_record(records[authority])
  end
  for i = 1, #sets, 4000 do
    call('MSET', unpack(sets, i, min(i + 3999, #sets)))
  end
  local states = {}
  for ip in pairs(changed_addresses) do
    local state = addresses[ip]
    states[#states + 1] = ip
    states[#states + 1] = struct.pack('>dB', state.n, state.w) .. state.t
  end
  for i = 1, #states, 4000 do
    call('HSET', P .. 'addresses', unpack(states, i, min(i + 3999, #states)))
  end
  flush_places()
  flush_zset('unparks', unparks_of)
  for i = 1, #known_add, 4000 do
    call('ZADD', P .. 'known', unpack(known_add, i, min(i + 3999, #known_add)))
  end
  if #lease_add > 0 then
    call('HSET', P .. 'leases', unpack(lease_add))
    call('ZADD', P .. 'expiries', unpack(expiry_add))
  end
  for name, number in pairs(meta_add) do
    if number ~= 0 then call('HINCRBY', KEYS[1], name, number) end
  end
  for name, number in pairs(result_add) do
    call('HINCRBY', P .. 'results', name, number)
  end
  for name, number in pairs(reason_add) do
    if number ~= 0 and call('HINCRBY', P .. 'reasons', name, number) == 0 then
      call('HDEL', P .. 'reasons', name)
    end
  end
end

-- leases: struct of due, expires, lengths; authority, address, element
local function encode_lease(authority, element, ip, due, expires)
  return struct.pack('>ddHB', due, expires, #authority, #ip) .. authority .. ip .. element
end

-- array authority, element ('' = its own robots.txt), address, due, expires
local function decode_lease(text)
  local due, expires, hosts, ips, place = struct.unpack('>ddHB', text)
  return {
    string.sub(text, place, place + hosts - 1), string.sub(text, place + hosts + ips),
    string.sub(text, place + hosts, place + hosts + ips - 1), due, expires,
  }
end

local function audit(row)
  if C.audit then call('XADD', P .. 'audit', 'MAXLEN', '~', C.audit, '*', 'r', cmsgpack.pack(row)) end
end

-- elements (layout: frontier/payload.py) -------------------------------------------------------------------------------

local function band_of(element)
  return BANDS - 1 - floor(string.byte(element, 3) / 32)
end

-- kind (0 page, 1 robots), attempt, place (from 1) of what follows the source, length of the memo or -1
local function header_of(element)
  local bits, attempt = string.byte(element, 1, 2)
  local place = floor(bits / 32) % 2 == 1 and 13 or 5
  local memo = -1
  if floor(bits / 8) % 2 == 1 then
    local high, low = string.byte(element, place, place + 1)
    memo = high * 256 + low
  end
  return bits % 4, attempt, place, memo
end

local function length_bytes(number)
  return string.char(floor(number / 256), number % 256)
end

-- the element with another attempt and, unless false, another memo
local function revised(element, attempt, memo)
  local bits = string.byte(element, 1)
  local _, _, place, length = header_of(element)
  local rest = length >= 0 and place + 2 + length or place
  local old = string.sub(element, place, rest - 1)
  if memo then old = memo == '' and '' or length_bytes(#memo) .. memo end
  if length >= 0 then bits = bits - 8 end
  if old ~= '' then bits = bits + 8 end
  return string.char(bits, min(255, attempt)) .. string.sub(element, 3, place - 1) .. old .. string.sub(element, rest)
end

-- the URL behind the authority (for opt-out prefixes)
local function path_of(element)
  local bits = string.byte(element, 1)
  local _, _, place, length = header_of(element)
  local rest = string.sub(element, length >= 0 and place + 2 + length or place)
  if floor(bits / 4) % 2 == 1 then return string.match(rest, '^%a[%w+.-]*://[^/?#]*(.*)$') or '' end
  return rest
end

-- queues -------------------------------------------------------------------------------------------------------------

local function queue_key(authority, band)
  return P .. 'q' .. band .. ':' .. authority
end

local function count_queued(record, band, number)
  local q = by_band_of(record)
  q[band + 1] = q[band + 1] + number
  record.qn = record.qn + number
  add(meta_add, 'queued', number)
end

local function push(authority, record, element, front)
  local band = band_of(element)
  call(front and 'LPUSH' or 'RPUSH', queue_key(authority, band), element)
  count_queued(record, band, 1)
  change(authority)
end

local function best_band(record)
  local q = by_band_of(record)
  for band = 1, BANDS do
    if q[band] > 0 then return band - 1 end
  end
  return BANDS - 1
end

local function note_unparks(authority, record)
  local head = call('ZRANGE', P .. 'p:' .. authority, 0, 0, 'WITHSCORES')
  record.pm = head[2] and tonumber(head[2]) or nil
  unparks_of[authority] = record.pm or false
  change(authority)
end

-- true when it was not parked for that reason already
local function park(authority, record, element, reason, until_ms)
  local new = call('ZADD', P .. 'p:' .. authority, until_ms, reason .. '\0' .. element) == 1
  if new then
    record.pn = (record.pn or 0) + 1
    add(meta_add, 'parked', 1)
    add(reason_add, reason, 1)
    if not record.pm or until_ms < record.pm then
      record.pm = until_ms
      unparks_of[authority] = until_ms
    end
    change(authority)
  else
    note_unparks(authority, record)
  end
  return new
end

local function unpark(authority, record, until_ms, most)
  if not record.pm or record.pm > until_ms then return 0 end
  local members = call('ZRANGEBYSCORE', P .. 'p:' .. authority, '-inf', until_ms, 'LIMIT', 0, most or 16)
  for _, member in ipairs(members) do
    local reason, element = string.match(member, '^(%Z*)%z(.*)$')
    call('ZREM', P .. 'p:' .. authority, member)
    add(reason_add, reason, -1)
    push(authority, record, element, true)
  end
  add(meta_add, 'parked', -#members)
  record.pn = record.pn - #members
  if record.pn == 0 then record.pn = nil end
  note_unparks(authority, record)
  return #members
end

local function forget_urls(authority, record)
  local number = record.qn + (record.pn or 0)
  local q = by_band_of(record)
  for band = 1, BANDS do
    if q[band] > 0 then
      call('UNLINK', queue_key(authority, band - 1))
      count_queued(record, band - 1, -q[band])
    end
  end
  for start = 0, (record.pn or 0) - 1, 1000 do
    for _, member in ipairs(call('ZRANGE', P .. 'p:' .. authority, start, start + 999)) do
      add(reason_add, string.match(member, '^%Z*'), -1)
    end
  end
  add(meta_add, 'parked', -(record.pn or 0))
  call('UNLINK', P .. 'p:' .. authority, P .. 'h:' .. authority)
  record.pn, record.pm, record.h = nil, nil, nil
  unparks_of[authority] = false
  change(authority)
  return number
end

-- places in line -----------------------------------------------------------------------------------------------------

-- earliest instant of its next lease, nil when it has nothing to fetch
local function ready(record)
  local start = max(record.n, record.g or 0)
  if record.h then return start end
  if record.qn > 0 then
    start = max(start, record.rg or 0)
  elseif record.pm then
    start = max(start, record.rg or 0, record.pm)
  else
    return nil
  end
  if C.obey and record.rx <= start then start = max(start, record.rr or 0) end
  return start
end

local function place(authority, record)
  local start = not record.t and not record.z and ready(record)
  due_of[authority] = start or false
end

local function unplace(authority, record)
  due_of[authority], hot_of[authority] = false, false
  if record.w then
    call('ZREM', P .. 'w:' .. record.w, authority)
    record.w = nil
    change(authority)
  end
end

local function replace(authority, record)
  unplace(authority, record)
  if not record.t then place(authority, record) end
end

-- an address has become free: the best of those that wait for it goes into line
local function free_address(ip)
  local state = load_address(ip)
  state.t = ''
  changed_addresses[ip] = true
  if state.w == 1 then
    if call('EXISTS', P .. 'w:' .. ip) == 1 then due_of['@' .. ip] = state.n else state.w = 0 end
  end
end

-- politeness ---------------------------------------------------------------------------------------------------------

local function adaptive(record)
  return min(C.adaptive_cap, floor(C.factor * record.lf))
end

local function delay_of(record)
  return max(record.dl or C.delay, record.cd or 0, adaptive(record))
end

local function address_delay_of(record)
  return max(record.al or C.address_delay, adaptive(record))
end

local function backoff(base, cap, doublings, jitter)
  local whole = base
  if cap > 0 then whole = min(cap, base * 2 ^ min(doublings, 20)) end
  return floor(whole / 2 + whole / 2 * jitter)
end

local function forgiven(record)
  return max(0, (record.f or 0) - floor(max(0, now - (record.ft or 0)) / C.forgive))
end

local function rest(record, until_ms, reason)
  if until_ms > (record.g or 0) then record.g, record.gr = until_ms, reason end
end
