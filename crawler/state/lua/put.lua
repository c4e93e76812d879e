-- Keep entries of a shared table (crawler/state/shared_table.py), each as the newest of its slot; the oldest make room.
-- KEYS: 1 table (hash: slot -> msgpack list of key, value, key, value, ..., newest first)
-- ARGV: 1 entries a slot; then for each entry its slot, key and value
-- Returns: nothing. O(entries).
-- Atomic so that of two workers' entries in one slot neither is lost. What is no such list counts as empty.
local most = 2 * ARGV[1]
for at = 2, #ARGV, 3 do
  local slot, key = ARGV[at], ARGV[at + 1]
  local new = {key, ARGV[at + 2]}
  local is_list, old = pcall(cmsgpack.unpack, redis.call('HGET', KEYS[1], slot) or '')
  if is_list and type(old) == 'table' then
    for i = 1, #old - 1, 2 do
      if #new < most and old[i] ~= key then
        new[#new + 1], new[#new + 2] = old[i], old[i + 1]
      end
    end
  end
  redis.call('HSET', KEYS[1], slot, cmsgpack.pack(new))
end
