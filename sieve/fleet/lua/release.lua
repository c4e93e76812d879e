-- Give the flush lease back.
-- KEYS: 1 lease (string)
-- ARGV: 1 the caller's token
-- Returns: 1 when it was the caller's, else 0. O(1).
-- Atomic so that nobody deletes a lease that another took meanwhile.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
