-- Commit one epoch: batches decided, new URLs ready, their fingerprints stored.
-- KEYS: 1 lease (string), 2 state (hash), 3 waiting (list), 4 ready (list), 5 fresh (list), 6 runs (list)
-- ARGV: 1 token, 2 epoch this one follows, 3 lease time (ms), 4 batches to remove, 5 URLs in them, 6 URLs admitted,
--       7 elements of fresh to remove (they are in runs, here or on disk), 8 element of fresh to add or empty,
--       9 number of chunks c, then c chunks for runs, then pages of the ready elements: msgpack arrays of at most 4,000
-- Returns: the new epoch, or -1 when the lease is not the caller's, -2 when the epoch is not the one expected.
-- O(batches + ready elements).
-- Atomic so that a URL is decided, ready and stored, or none of the three; an old holder changes nothing.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return -1
end
if (redis.call('HGET', KEYS[2], 'epoch') or '0') ~= ARGV[2] then
  return -2
end
-- An error does not undo what a script has written: everything that can fail comes before the first write, and the
-- first write is one that a full Redis refuses.
local first = 10 + tonumber(ARGV[9])
local pages = {}
for i = first, #ARGV do
  pages[#pages + 1] = cmsgpack.unpack(ARGV[i])
end
for _, page in ipairs(pages) do
  redis.call('RPUSH', KEYS[4], unpack(page))
end
if ARGV[8] ~= '' then
  redis.call('RPUSH', KEYS[5], ARGV[8])
end
if ARGV[7] ~= '0' then
  redis.call('LTRIM', KEYS[5], ARGV[7], -1)
end
for i = 10, first - 1 do
  redis.call('RPUSH', KEYS[6], ARGV[i])
end
redis.call('LTRIM', KEYS[3], ARGV[4], -1)
redis.call('HINCRBY', KEYS[2], 'decided', ARGV[5])
redis.call('HINCRBY', KEYS[2], 'seen', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('HINCRBY', KEYS[2], 'epoch', 1)
