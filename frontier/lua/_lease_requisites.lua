-- What the slow way does when the budget of pages is spent, and what pages embed alone is leased, with the robots.txt that
-- it needs, in the same order and under the same rules. It waits in the best band. Hosts that have none stand in line
-- behind, and nobody looks at them until they come to 'due' anew, as all do to which something comes or returns.

-- as ready() of _places.lua, for what pages embed alone
local function requisites_ready(authority, record)
  local start = ready(record)
  if not start or record.others.h or byte(record.bands) == 0 then return start end
  local parked = embedded.parked_until(authority, record)
  return parked and max(start, parked)
end

-- into line, or to where it belongs until it may be granted what pages embed; whether it waits in 'due' for that
local function settle(authority)
  local record = load_record(authority)
  due_of[authority] = false
  if not record or record.others.z or record.others.w then return false end
  if record.lease then
    schedule(authority, record)
    return false
  end
  local start = requisites_ready(authority, record)
  if not start then
    if ready(record) then line.join(authority, place_in_line(record)) end
  elseif start > horizon then
    due_of[authority] = start
  else
    unpark(authority, record, max(now, start))
    if not record.others.h and byte(record.bands) ~= 0 then
      due_of[authority] = now -- more is due than comes at a time
    else
      line.join(authority, place_in_line(record))
    end
  end
  return due_of[authority] ~= false
end

-- An address, free at `due`, for which only who has what pages embed waits on, of the first `most` others; whether it
-- waits in 'due', and how many others might still be looked at.
local function settle_address(waiter, due, most)
  local key = PREFIX .. 'w:' .. sub(waiter, 2)
  local others = call('ZRANGEBYSCORE', key, whole(line.bound), '+inf', 'LIMIT', 0, most)
  if others[1] then call('ZREM', key, unpack(others)) end
  for _, authority in ipairs(others) do
    local record = load_record(authority)
    record.others.w = nil
    mark_changed(authority)
    settle(authority)
  end
  local head = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  due_of[waiter] = #others == most and now or head[2] and due > horizon and due or false
  if head[2] and not due_of[waiter] then line.join(waiter, tonumber(head[2])) end
  return due_of[waiter] ~= false, most - #others
end

return {
  collect_expired = collect_expired, line_up = line_up, line_up_new = line_up_new, try_address = try_address,
  try_authority = try_authority, read_ahead = read_ahead, flush_places = flush_places, commit = commit,
  read_new = read_new, settle = settle, settle_address = settle_address, again_before = again_before,
  place_of = place_of,
}
