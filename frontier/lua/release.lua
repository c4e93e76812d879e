-- Give unused leases back. ARGV[1]: list of {authority, both halves of the token} and, for one that goes back because
-- others are there, {..., when it may ask the host again, its address, its robots.txt, the reason}. returns the number
-- that were held.
-- Cost O(leases * log(authorities)). Atomic, so that nobody sees an authority without its URL, nor asks again too soon.

local function leave_alone(record, host_until, address_until, robots_until, reason)
  if host_until > now then rest(record, host_until, reason) end
  if robots_until > now then
    local others = others_of(record)
    others.rr = max(others.rr or 0, robots_until)
  end
  if record.lease.holds == 0 then return end
  if record.address_next_ms >= 0 then
    record.address_next_ms = max(record.address_next_ms, address_until)
  else
    local state = load_address(record.address)
    state.next_ms = max(state.next_ms, address_until)
  end
end

call('DEL', PREFIX .. 'oom')
local number = 0
for _, lease in ipairs(ARGS) do
  local record = leased(lease[1], lease[2], lease[3])
  if record then
    if lease[4] then leave_alone(record, lease[4], lease[5], lease[6], lease[7]) end
    give_back(lease[1], record)
    number = number + 1
  end
end
commit()
return cmsgpack.pack(number)
