-- Add to tables of counters. ARGV[1]: for each table {name, counter, {what is added at each of its places}, counter,
-- ...}. returns the totals of just these places, in this order. Most are 0 most of the time and only read; the last is
-- written all the same, to say how many there are. Cost O(places). Atomic, so that a reader sees all of a batch or
-- nothing. Nothing is written at the memory limit: what is counted can wait.

local totals = {}
for _, counters in ipairs(ARGS) do
  local key = PREFIX .. 'c:' .. counters[1]
  for i = 2, #counters, 2 do
    local field, values = ':' .. counters[i], counters[i + 1]
    local last = #values
    for place, value in ipairs(values) do
      local name = place - 1 .. field
      if value ~= 0 or place == last then
        totals[#totals + 1] = call('HINCRBY', key, name, value)
      else
        totals[#totals + 1] = tonumber(call('HGET', key, name)) or 0
      end
    end
  end
end
return cmsgpack.pack(totals)
