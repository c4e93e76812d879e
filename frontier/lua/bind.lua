-- Bind a lease to an address. ARGV[2]: {token, address}. returns {1 or 0, due, reason}.
-- Cost O(log(authorities)). Atomic, so that one lease at a time holds the address.

call('DEL', P .. 'oom')
local token, ip = A[1], A[2]
local lease = living(token)
if not lease then return cmsgpack.pack({ 0, 0, 'unknown_token' }) end
local record = make(lease[1])
record.ip, record.ix = ip, now + C.address_ttl
local answer = { 1, lease[4], '' }
if lease[3] ~= ip then
  local state = load_address(ip)
  local due = max(lease[4], state.n)
  local busy = state.t ~= ''
  if busy or due > max(now, lease[4]) + C.bind_ahead then
    give_back(token, lease)
    answer = { 0, due, busy and 'address_busy' or 'address_not_due' }
  else
    if lease[3] ~= '' then free_address(lease[3]) end
    state.t = token
    changed_addresses[ip] = true
    lease[3], lease[4] = ip, due
    call('HSET', P .. 'leases', token, encode_lease(lease[1], lease[2], ip, due, lease[5]))
    answer = { 1, due, '' }
  end
end
commit()
return cmsgpack.pack(answer)
