-- An unused lease goes back: first in its queue, no delay, no attempt; put behind _common.lua.

local function give_back(authority, record)
  local lease, ip = end_lease(authority, record)
  local element = lease.element
  if ip ~= '' then free_address(record, ip) end
  if element ~= '' then
    if byte(element, 1) % 4 == 1 then
      call('LPUSH', PREFIX .. 'h:' .. authority, element)
      others_of(record).h = (record.others.h or 0) + 1
    else
      push(authority, record, element, true)
    end
  end
  schedule(authority, record)
  if SETTINGS.audit then audit({ 'release', token_of(record, lease), authority, ip, lease.due }) end
end
