-- Authorities that never had a lease: their records lie several in one value, since a key costs a hundred bytes, more than
-- the few URLs that most of them have.
--
-- Linear hashing (W. Litwin, Linear hashing: a new tool for file and table addressing, VLDB 1980): when there are more than
-- eight to a bucket, one bucket is divided; there are never fewer again. A bucket is a list of lengths (2) and texts:
-- authority, record.

local MOST_A_BUCKET, NEWCOMER = 8, '<Hc0Hc0'
local B_PREFIX = P .. 'b:'
local buckets, bucket_count, newcomer_count = {}, nil, nil

local function power_below(number)
  local _, exponent = math.frexp(number)
  return 2 ^ (exponent - 1)
end

local function bucket_number(authority, count)
  local hash, half = tonumber(sub(redis.sha1hex(authority), 1, 8), 16), power_below(count)
  local number = hash % (2 * half)
  return number < count and number or number - half
end

local function read_bucket(number)
  local bucket = buckets[number]
  if bucket then return bucket end
  bucket = { texts = {}, changed = false }
  buckets[number] = bucket
  local text, place, authority, record = call('GET', B_PREFIX .. number) or '', 1, nil, nil
  while place <= #text do
    authority, record, place = unpack_struct(NEWCOMER, text, place)
    bucket.texts[authority] = record
  end
  return bucket
end

local function bucket_of(authority)
  if not bucket_count then
    local counts = call('HMGET', KEYS[1], 'buckets', 'newcomers')
    bucket_count, newcomer_count = tonumber(counts[1] or 1), tonumber(counts[2] or 0)
  end
  return read_bucket(bucket_number(authority, bucket_count))
end

-- its record's text, nil when there is none
local function newcomer(authority)
  return bucket_of(authority).texts[authority]
end

-- text nil: it is none any more
local function set_newcomer(authority, text)
  local bucket = bucket_of(authority)
  local before = bucket.texts[authority]
  bucket.texts[authority], bucket.changed = text, true
  newcomer_count = newcomer_count + (text and 1 or 0) - (before and 1 or 0)
end

local function divide_bucket()
  local number = bucket_count - power_below(bucket_count)
  local old, new = read_bucket(number), read_bucket(bucket_count)
  bucket_count = bucket_count + 1
  for authority, text in pairs(old.texts) do
    if bucket_number(authority, bucket_count) ~= number then
      new.texts[authority], old.texts[authority] = text, nil
    end
  end
  old.changed, new.changed = true, true
end

local function write_buckets()
  if not bucket_count then return end
  local changed = false
  while newcomer_count > MOST_A_BUCKET * bucket_count do divide_bucket() end
  for number, bucket in pairs(buckets) do
    if bucket.changed then
      local parts = {}
      for authority, text in pairs(bucket.texts) do
        local last = #parts
        parts[last + 1], parts[last + 2] = pack_struct('<H', #authority), authority
        parts[last + 3], parts[last + 4] = pack_struct('<H', #text), text
      end
      if parts[1] then call('SET', B_PREFIX .. number, table.concat(parts)) else call('DEL', B_PREFIX .. number) end
      changed = true
    end
  end
  if changed then call('HSET', KEYS[1], 'buckets', bucket_count, 'newcomers', newcomer_count) end
end
