-- Acknowledge URLs read from the head of the ready list: remove them.
-- KEYS: 1 ready (list), 2 taken (counter)
-- ARGV: 1 the counter when they were read, 2 how many pairs were read whole, 3 what is left of the next pair's places
--       when some of them were read, else empty
-- Returns: 1, or 0 when somebody removed anything meanwhile (then nothing is changed). O(elements removed).
-- Atomic so that a URL is removed once, whoever reads.
if (redis.call('GET', KEYS[2]) or '0') ~= ARGV[1] then
  return 0
end
redis.call('LTRIM', KEYS[1], 2 * ARGV[2], -1)
if ARGV[3] ~= '' then
  redis.call('LSET', KEYS[1], 0, ARGV[3])
end
redis.call('INCRBY', KEYS[2], 2 * ARGV[2] + 1)
return 1
