-- Bind a lease to an address. ARGV[1]: {authority, both halves of the token, address}. returns {1 or 0, due, reason}.
-- Cost O(log(authorities)). Atomic, so that one lease at a time holds the address.

call('DEL', P .. 'oom')
local authority, ip = A[1], A[4]
local record = leased(authority, A[2], A[3])
if not record then return cmsgpack.pack({ 0, 0, 'unknown_token' }) end
local lease = record.l

-- a state that is not in `addresses` is not written: that of the authority's own address, and of one that nobody has
-- yet
local function address_asked_for()
  if record.an >= 0 and record.ip == ip then return { h = 0, n = record.an } end
  if record.an >= 0 then load_address(record.ip) end -- what is known of the address that it leaves must stay known
  local text = call('GET', I_PREFIX .. ip)
  return text and read_address(ip, text) or { h = 0, n = 0, new = true }
end

local answer = { 1, lease.due, '' }
if lease.holds == 0 or record.ip ~= ip then
  local state = address_asked_for()
  local due = max(lease.due, state.n)
  local busy = state.h == 1
  if busy or due > max(now, lease.due) + C.bind_ahead then
    give_back(authority, record)
    answer = { 0, due, busy and 'address_busy' or 'address_not_due' }
  else
    if lease.holds == 1 then free_address(record, record.ip) end
    state.h, state.c, lease.holds, lease.due = 1, true, 1, due
    if state.new then
      record.an = 0
      call('SET', I_PREFIX .. ip, authority)
    end
    answer = { 1, due, '' }
  end
end
record.ip, record.ix = ip, now + C.address_ttl
change(authority)
commit()
return cmsgpack.pack(answer)
