-- Commit one epoch: batches decided, new URLs ready, their fingerprints stored.
-- KEYS: 1 lease (string), 2 state (hash), 3 waiting (list), 4 ready (list), 5 fresh (list), 6 runs (list)
-- ARGV: 1 token, 2 epoch this one follows, 3 lease time (ms), 4 batches to remove, 5 URLs in them, 6 URLs admitted,
--       7 elements of fresh to remove (they are in runs, here or on disk), 8 element of fresh to add or empty,
--       9 number of chunks c, then c chunks for runs, then the ready elements
-- Returns: the new epoch, or -1 when the lease is not the caller's, -2 when the epoch is not the one expected.
-- O(batches + ready elements).
-- Atomic so that a URL is decided, ready and stored, or none of the three; an old holder changes nothing.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return -1
end
if (redis.call('HGET', KEYS[2], 'epoch') or '0') ~= ARGV[2] then
  return -2
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('LTRIM', KEYS[3], ARGV[4], -1)
redis.call('HINCRBY', KEYS[2], 'decided', ARGV[5])
redis.call('HINCRBY', KEYS[2], 'seen', ARGV[6])
if ARGV[7] ~= '0' then
  redis.call('LTRIM', KEYS[5], ARGV[7], -1)
end
if ARGV[8] ~= '' then
  redis.call('RPUSH', KEYS[5], ARGV[8])
end
local at = 10
local chunks = tonumber(ARGV[9])
for i = at, at + chunks - 1 do
  redis.call('RPUSH', KEYS[6], ARGV[i])
end
at = at + chunks
while at <= #ARGV do
  local last = math.min(at + 4999, #ARGV)
  redis.call('RPUSH', KEYS[4], unpack(ARGV, at, last))
  at = last + 1
end
return redis.call('HINCRBY', KEYS[2], 'epoch', 1)
