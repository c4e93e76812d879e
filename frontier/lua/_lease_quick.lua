-- The quick way of lease.lua: a host that needs nothing but its next URL, as most do, is granted without a table of its
-- record. What it does not grant is left to the slow way (_lease_slow.lua).

local horizon = now + ARGS.ahead
-- Tables of opt-outs that hold here (frontier/opt_outs.py): this crawl's, and that of all crawls. Where one cannot be
-- read the script ends here, before it has written anything, and nothing is leased; but in a Cluster that of all may lie
-- on another node, where other crawls do. damaged: a key that is no table; or a table and the host of which it cannot be
-- read, as the slow way found; then what this call leases is given back at once.
local opt_outs = { damaged = {} }

local function hold(key, rules)
  if type(rules) == 'number' then
    if rules > 0 then opt_outs[#opt_outs + 1] = key end
  elseif string.find(rules.err, 'WRONGTYPE', 1, true) then
    opt_outs.damaged = { key }
  elseif not string.find(rules.err, 'non local key', 1, true) then
    call('HLEN', key)
  end
end

hold(PREFIX .. 'optout', redis.pcall('HLEN', PREFIX .. 'optout'))
hold(SETTINGS.opt_outs_of_all, redis.pcall('HLEN', SETTINGS.opt_outs_of_all))
if opt_outs.damaged[1] then return cmsgpack.pack({ {}, now, -1, '', opt_outs.damaged, clock.ahead, clock.late }) end
local leases, granted, sequence = {}, 0, nil
local LEASE_MS, KEY = SETTINGS.lease, ARGS.key
local WAITS = '<BBddddI4c28Bc0ddBc0BBI4' -- of the queue its first band and its number
local GRANTED = '<BBddddI4c28Bc0ddddI4BI4c0Bc0B'
local GRANTED_OF_SOME = GRANTED .. 'BI4'
local most_flags = SETTINGS.audit and 0 or SHARED

-- the place in line that a text's authority has when it is due; nil when all of its record must be looked at
local function score_in(text)
  local flags, best, number = unpack_struct('<BBd', text)
  return flags < LOOKED and best * BAND_UNIT + number or nil
end

-- the next element, nil when there is none after all; what follows the queue's first band when it is gone
local function first_element(authority, text, band, place, bytes)
  local at = place + bytes
  local low, high = byte(text, at, at + 1)
  local length = high * 256 + low
  if length == 0 then return call('LPOP', queue_key(authority, band)), sub(text, place) end
  high, low = byte(text, at + 2, at + 3)
  local last = at + 3 + high * 256 + low
  return sub(text, at + 4, last),
    sub(text, place, at - 1) .. pack_struct('<H', length - (last - at - 1)) .. sub(text, last + 1)
end

local function hand_out(authority, text, due)
  granted = granted + 1
  leases[2 * granted - 1], leases[2 * granted] = authority, text
  due_at(LEASED + due + LEASE_MS, authority)
  line.note(text, due)
end

-- whether the authority was granted its next URL; else the slow way has to look at it
local function grant_plain(authority, text)
  if byte(text) >= most_flags or byte(text, 2) == BANDS then return false end
  local flags, best, _, next_ms, address_next_ms, address_until_ms, queued, counts, marks, robots_ms,
    robots_expires_ms, address, bytes, band, number, place = unpack_struct(WAITS, text)
  for i = 1, #opt_outs do
    if call('HEXISTS', opt_outs[i], authority) == 1 then return false end
  end
  local due = start_by(next_ms, address_next_ms, address_until_ms)
  if due > horizon or address_next_ms > horizon or address_until_ms <= now then return false end
  if address_next_ms > due then due = address_next_ms end
  if now > due then due = now end
  if robots_wanted(robots_ms, robots_expires_ms, 0, due) then return false end
  local element, rest = first_element(authority, text, band, place, bytes - 5)
  if not element then return false end
  sequence = sequence + 1
  local expires, head = due + LEASE_MS, nil
  if number > 1 then
    head = pack_struct(GRANTED_OF_SOME, flags + HELD, best, sequence, next_ms, address_next_ms, address_until_ms,
      queued - 1, counts, #marks, marks, robots_ms, robots_expires_ms, due, expires, KEY, 1, #element, element,
      #address, address, bytes, band, number - 1)
  else
    best = bytes > 5 and byte(text, place) or BANDS
    head = pack_struct(GRANTED, flags + HELD, best, sequence, next_ms, address_next_ms, address_until_ms,
      queued - 1, counts, #marks, marks, robots_ms, robots_expires_ms, due, expires, KEY, 1, #element, element,
      #address, address, bytes - 5)
  end
  text = head .. rest
  -- delays of its own are behind the queue
  hand_out(authority, flags >= ENDS_SLOWLY and text or head, due)
  set(RECORD_KEY .. authority, text)
  texts[authority] = text
  meta_add.queued = meta_add.queued - 1
  return true
end
