-- End turns that leases have. KEYS[1]: prefix of all turns (see frontier/turns.py). ARGV[1]: {crawl, {{token,
-- authority, when others may ask it, address or '', when others may ask that}, ...}}; ARGV[2] only in tests: now.
-- Cost O(leases). Atomic, so that the turn of a later lease is not ended.

local P, A = KEYS[1], cmsgpack.unpack(ARGV[1])
local crawl = A[1]
local call, floor = redis.call, math.floor
local now = tonumber(ARGV[2])
if not now then
  local t = call('TIME')
  now = t[1] * 1000 + floor(t[2] / 1000)
end
call('DEL', P .. 'oom')

local function leave(name, token, until_ms)
  local key = P .. 't:' .. name
  local text = call('GET', key)
  local turn = text and cmsgpack.unpack(text)
  if not turn or turn[1] ~= crawl or turn[2] ~= token then return end
  if until_ms > now then
    call('SET', key, cmsgpack.pack({ crawl, '', until_ms }), 'PX', until_ms - now + 1000)
  else
    call('DEL', key)
  end
end

for _, lease in ipairs(A[2]) do
  local token, authority, host_until, address, address_until = unpack(lease)
  leave(authority, token, host_until)
  if address ~= '' then leave(address, token, address_until) end
end
return cmsgpack.pack(0)
