-- Change hosts of a table of opt-outs as its reader has found them. KEYS[1]: the table. ARGV: host, msgpack list of the
-- path prefixes that it had or '' for none, the same of those that it shall have, host, ...
-- returns 1, or 0 with nothing changed when another has changed one of them meanwhile.
-- Cost O(hosts). Atomic, so that of the spellings of a host all are changed or none.

for i = 1, #ARGV, 3 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i + 1] then return 0 end
end
-- a full Redis lets a script write that has written before: a promise must not wait for memory
redis.call('HDEL', KEYS[1], '')
for i = 1, #ARGV, 3 do
  if ARGV[i + 2] == '' then
    redis.call('HDEL', KEYS[1], ARGV[i])
  else
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
  end
end
return 1
