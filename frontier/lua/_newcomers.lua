-- Authorities that never had a lease: their records lie several in one value, since a key costs a hundred bytes, more
-- than the few URLs that most of them have.
--
-- Linear hashing (W. Litwin, Linear hashing: a new tool for file and table addressing, VLDB 1980): when there are more
-- than eight to a bucket, one bucket is divided; there are never fewer again. A bucket is a list of lengths (2) and
-- texts: authority, record.

local MOST_A_BUCKET = 8
local BUCKET_KEY = PREFIX .. 'b:'
local buckets, changed_buckets, numbers = {}, {}, {}
local bucket_count, newcomer_count

local function power_below(number)
  local _, exponent = math.frexp(number)
  return 2 ^ (exponent - 1)
end

local function bucket_number(authority)
  local hash, half = tonumber(sub(redis.sha1hex(authority), 1, 8), 16), power_below(bucket_count)
  local number = hash % (2 * half)
  return number < bucket_count and number or number - half
end

local function read_counts()
  if bucket_count then return end
  local counts = call('HMGET', KEYS[1], 'buckets', 'newcomers')
  bucket_count, newcomer_count = tonumber(counts[1] or 1), tonumber(counts[2] or 0)
end

-- those of these newcomers that are not known yet, in one call
local function read_buckets(authorities)
  local asked, keys = {}, {}
  for i = 1, #authorities do
    local authority = authorities[i]
    if not numbers[authority] then
      read_counts()
      local number = bucket_number(authority)
      numbers[authority], asked[#asked + 1] = number, number
      keys[#asked] = BUCKET_KEY .. number
    end
  end
  if not asked[1] then return end
  local found = call('MGET', unpack(keys))
  for i = 1, #asked do buckets[asked[i]] = buckets[asked[i]] or found[i] or '' end
end

local function read_bucket(number)
  local text = buckets[number] or call('GET', BUCKET_KEY .. number) or ''
  buckets[number] = text
  return text
end

local function entry_of(authority, record)
  return pack_struct('<H', #authority) .. authority .. pack_struct('<H', #record) .. record
end

-- authority of the entry at a place, and the places of its record's ends
local function entry_at(text, place)
  local authority, length, first = unpack_struct('<Hc0H', text, place)
  return authority, first, first + length - 1
end

-- number and text of its bucket; if it is there, the places of its entry and of its record's ends
local function find_newcomer(authority)
  read_counts()
  local number = numbers[authority] or bucket_number(authority)
  numbers[authority] = number
  local text, place = read_bucket(number), 1
  while place <= #text do
    local name, first, last = entry_at(text, place)
    if name == authority then return number, text, place, first, last end
    place = last + 1
  end
  return number, text
end

-- its record's text, nil when there is none
local function newcomer(authority)
  local _, text, place, first, last = find_newcomer(authority)
  return place and sub(text, first, last)
end

-- its place in line, nil when all of its record must be looked at
local function newcomer_score(authority)
  local _, text, place, first = find_newcomer(authority)
  if not place then return nil end
  local flags, best = byte(text, first, first + 1)
  return flags == SHARED and best < BANDS and best * BAND_UNIT or nil
end

-- record '': it is none any more
local function set_newcomer(authority, record)
  local number, text, place, _, last = find_newcomer(authority)
  local entry = record ~= '' and entry_of(authority, record) or ''
  if place then
    buckets[number] = sub(text, 1, place - 1) .. entry .. sub(text, last + 1)
  else
    buckets[number] = text .. entry
  end
  changed_buckets[number] = true
  newcomer_count = newcomer_count + (entry ~= '' and 1 or 0) - (place and 1 or 0)
end

local function divide_bucket()
  local number, new = bucket_count - power_below(bucket_count), bucket_count
  local text, place, stay, go = read_bucket(number), 1, {}, {}
  bucket_count = bucket_count + 1
  while place <= #text do
    local authority, _, last = entry_at(text, place)
    local list = bucket_number(authority) == number and stay or go
    list[#list + 1] = sub(text, place, last)
    place = last + 1
  end
  buckets[number], buckets[new] = table.concat(stay), table.concat(go)
  changed_buckets[number], changed_buckets[new] = true, true
end

local function write_buckets()
  if not next(changed_buckets) then return end
  while newcomer_count > MOST_A_BUCKET * bucket_count do divide_bucket() end
  local empty = {}
  for number in pairs(changed_buckets) do
    local text = buckets[number]
    if text == '' then empty[#empty + 1] = BUCKET_KEY .. number else set(BUCKET_KEY .. number, text) end
  end
  for i = 1, #empty, 4000 do call('DEL', unpack(empty, i, min(i + 3999, #empty))) end
  call('HSET', KEYS[1], 'buckets', bucket_count, 'newcomers', newcomer_count)
end
