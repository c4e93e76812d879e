-- Append packed batches to the waiting log.
-- KEYS: 1 waiting (list), 2 texts (list), 3 state (hash)
-- ARGV: 1 number of URLs, then of each batch its fingerprints and its URLs with payloads
-- Returns: number of URLs ever appended. O(batches).
-- Atomic so that both lists stay in step, and whoever sees the count can wait until as many are decided.
for i = 2, #ARGV, 2 do
  redis.call('RPUSH', KEYS[1], ARGV[i])
  redis.call('RPUSH', KEYS[2], ARGV[i + 1])
end
return redis.call('HINCRBY', KEYS[3], 'put', ARGV[1])
