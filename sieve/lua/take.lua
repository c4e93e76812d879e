-- Acknowledge elements read from the head of the ready list: remove them.
-- KEYS: 1 ready (list), 2 taken (counter)
-- ARGV: 1 the counter when they were read, 2 how many
-- Returns: 1, or 0 when somebody removed elements meanwhile (then nothing is changed). O(elements removed).
-- Atomic so that an element is removed once, whoever reads.
if (redis.call('GET', KEYS[2]) or '0') ~= ARGV[1] then
  return 0
end
redis.call('LTRIM', KEYS[1], ARGV[2], -1)
redis.call('INCRBY', KEYS[2], ARGV[2])
return 1
