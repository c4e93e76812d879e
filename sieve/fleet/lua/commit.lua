-- Commit one epoch: batches decided, new URLs ready, their fingerprints stored.
-- KEYS: 1 lease (string), 2 state (hash), 3 waiting (list), 4 texts (list), 5 ready (list), 6 fresh (list),
--       7 runs (list)
-- ARGV: 1 token, 2 epoch this one follows, 3 lease time (ms), 4 URLs decided, 5 URLs admitted,
--       6 elements of fresh to remove (they are in runs, here or on disk), 7 element of fresh to add or empty,
--       8 epoch up to which those on disk are complete, 0 when nothing is removed for them or they are here,
--       9 number of chunks c, then c chunks for runs, then for each batch decided the places of its new URLs
-- Returns: the new epoch; -1 when the lease is not the caller's, -2 when the epoch is not the one expected, -3 when
-- waiting and texts are not in step. O(batches): the texts move from list to list, nobody reads them.
-- Atomic so that a URL is decided, ready and stored, or none of the three; an old holder changes nothing.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return -1
end
if (redis.call('HGET', KEYS[2], 'epoch') or '0') ~= ARGV[2] then
  return -2
end
if redis.call('LLEN', KEYS[3]) ~= redis.call('LLEN', KEYS[4]) then
  return -3
end
-- An error does not undo what a script has written: everything that can fail comes before the first write, and once
-- something is written a full Redis refuses nothing more. It lets this one pass: what is decided takes less room than
-- what waits, and most of that is known and goes.
local first = 10 + tonumber(ARGV[9])
redis.call('LTRIM', KEYS[3], #ARGV - first + 1, -1)
for i = first, #ARGV do
  if ARGV[i] == '' then
    redis.call('LPOP', KEYS[4])
  else
    redis.call('RPUSH', KEYS[5], ARGV[i])
    redis.call('LMOVE', KEYS[4], KEYS[5], 'LEFT', 'RIGHT')
  end
end
if ARGV[7] ~= '' then
  redis.call('RPUSH', KEYS[6], ARGV[7])
end
if ARGV[6] ~= '0' then
  redis.call('LTRIM', KEYS[6], ARGV[6], -1)
end
if ARGV[8] ~= '0' then
  redis.call('HSET', KEYS[2], 'stored', ARGV[8])
end
for i = 10, first - 1 do
  redis.call('RPUSH', KEYS[7], ARGV[i])
end
redis.call('HINCRBY', KEYS[2], 'decided', ARGV[4])
redis.call('HINCRBY', KEYS[2], 'seen', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('HINCRBY', KEYS[2], 'epoch', 1)
