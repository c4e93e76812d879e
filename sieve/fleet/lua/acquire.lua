-- Take or prolong the flush lease.
-- KEYS: 1 lease (string), 2 tokens (counter), 3 state (hash)
-- ARGV: 1 the caller's token, or 0; 2 lease time (ms); 3 id of the caller's store on disk, or empty (store in Redis)
-- Returns: {token, epoch} or {0, epoch} when another holds the lease, {-1, home} when the seen URLs are elsewhere. O(1).
-- Atomic so that two processes never hold one lease, and tokens only grow.
local epoch = tonumber(redis.call('HGET', KEYS[3], 'epoch') or 0)
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then
  -- it ends later than any may only when the clock was set back: whoever holds it prolongs it, else it ends in time
  if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  return {0, epoch}
end
local home = redis.call('HGET', KEYS[3], 'home')
if home and home ~= ARGV[3] then
  return {-1, home}
end
-- a full Redis lets a script write that has written before: who decides makes room
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if not home then
  redis.call('HSET', KEYS[3], 'home', ARGV[3])
end
if held then
  return {tonumber(held), epoch}
end
local token = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
return {token, epoch}
