-- Append one packed batch to the waiting log.
-- KEYS: 1 waiting (list), 2 state (hash)
-- ARGV: 1 packed batch, 2 number of URLs in it
-- Returns: number of URLs ever appended. O(1).
-- Atomic so that whoever sees the count can wait until as many are decided.
redis.call('RPUSH', KEYS[1], ARGV[1])
return redis.call('HINCRBY', KEYS[2], 'put', ARGV[2])
