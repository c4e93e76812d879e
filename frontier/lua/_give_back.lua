-- An unused lease goes back: first in its queue, no delay, no attempt; put behind _common.lua.
-- lease: array authority, element, address, due, expires.

local function give_back(token, lease)
  local authority, element, ip = lease[1], lease[2], lease[3]
  local record = make(authority)
  record.t = nil
  if ip ~= '' then free_address(ip) end
  if element ~= '' then
    if byte(element, 1) % 4 == 1 then
      call('LPUSH', P .. 'h:' .. authority, element)
      others_of(record).h = (record.o.h or 0) + 1
    else
      push(authority, record, element, true)
    end
  end
  call('HDEL', P .. 'leases', token)
  call('ZREM', P .. 'expiries', token)
  place(authority, record)
  if C.audit then audit({ 'release', token, authority, ip, lease[4] }) end
end

local function living(token)
  local text = call('HGET', P .. 'leases', token)
  local lease = text and decode_lease(text)
  if lease and lease[5] > now then return lease end
  return nil
end
