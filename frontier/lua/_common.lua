-- What all transitions share. A file without _ is a transition; frontier/scripts.py puts the parts with _ that it needs
-- in front of it, the clock and this one first, so that each is one script and one atomic step.
--
-- KEYS[1]  {crawl}:f:meta, which also gives the prefix of all other keys (see frontier/keys.py; all lie in one slot)
-- ARGV[1]  msgpack: the transition's own arguments
-- ARGV[2] and on  what is known of now (_clock.lua)
-- SETTINGS the crawl's settings, and numbers that no crawl sets, a table that frontier/scripts.py writes in front: quicker
--          than to unpack it
-- returns  msgpack
--
-- Units: instants in epoch ms, durations in ms. Everything read is kept in tables and written once by commit(). A call
-- of Redis costs about as much as ten lines of Lua, a table as much as twenty: so texts are taken apart only when
-- needed, and what is rarely needed is defined only then.

local PREFIX = string.sub(KEYS[1], 1, -5)
local ARGS = cmsgpack.unpack(ARGV[1])
local call = redis.call
local floor, max, min = math.floor, math.max, math.min
local byte, sub = string.byte, string.sub
local pack_struct, unpack_struct = struct.pack, struct.unpack
local BANDS, FAR = 8, 2 ^ 62
local BAND_UNIT = 2 ^ 44
local LEASED = 2 ^ 50 -- in 'due', put to the instant at which a lease expires; above all other instants

local due_of, hot_of, unparks_of = {}, {}, {}
local meta_add, result_add, reason_add = { pages = 0, bytes = 0, words = 0, queued = 0 }, {}, {}
local new_add = {}

local function add(counts, name, number)
  counts[name] = (counts[name] or 0) + number
end

local queue_prefixes = {}

local function queue_key(authority, band)
  local prefix = queue_prefixes[band]
  if not prefix then
    prefix = PREFIX .. 'q' .. band .. ':'
    queue_prefixes[band] = prefix
  end
  return prefix .. authority
end

local function audit(row)
  call('XADD', PREFIX .. 'audit', 'MAXLEN', '~', SETTINGS.audit, '*', 'r', cmsgpack.pack(row))
end
