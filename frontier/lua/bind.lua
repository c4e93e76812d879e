-- Bind a lease to an address. ARGV[1]: {authority, both halves of the token, address}. returns {1 or 0, due, reason}.
-- Cost O(log(authorities)). Atomic, so that one lease at a time holds the address.

call('DEL', PREFIX .. 'oom')
local authority, ip = ARGS[1], ARGS[4]
local record = leased(authority, ARGS[2], ARGS[3])
if not record then return cmsgpack.pack({ 0, 0, 'unknown_token' }) end
local lease = record.lease
local left -- an address that has rested, and that nobody else is known to have

-- a state that is not in `addresses` is not written: that of the authority's own address, and of one that nobody has
-- yet
local function address_asked_for()
  if record.address_next_ms >= 0 then
    if record.address == ip then return { held = 0, next_ms = record.address_next_ms } end
    if lease.holds == 0 and record.address_next_ms <= now then left = record.address end
    load_address(record.address) -- what is known of the address that it leaves must stay known
  end
  local text = call('GET', ADDRESS_KEY .. ip)
  return text and read_address(ip, text) or { held = 0, next_ms = 0, new = true }
end

local answer = { 1, lease.due, '' }
if lease.holds == 0 or record.address ~= ip then
  local state = address_asked_for()
  local due = max(lease.due, state.next_ms)
  local busy = state.held == 1
  if busy or due > max(now, lease.due) + SETTINGS.bind_ahead then
    give_back(authority, record)
    answer = { 0, due, busy and 'address_busy' or 'address_not_due' }
  else
    if lease.holds == 1 then free_address(record, record.address) end
    state.held, state.changed, lease.holds, lease.due = 1, true, 1, due
    if state.new then
      record.address_next_ms = 0
      call('SET', ADDRESS_KEY .. ip, authority)
    end
    answer = { 1, due, '' }
  end
end
record.address, record.address_until_ms = ip, now + SETTINGS.address_ttl
mark_changed(authority)
commit()
-- As long as there may be leases that were due before it had rested; else each that a host ever had would be kept for good.
if left then call('PEXPIRE', ADDRESS_KEY .. left, SETTINGS.lease) end
return cmsgpack.pack(answer)
