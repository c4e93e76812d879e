-- Add to tables of counters. ARGV[1]: {once, table, table, ...}; once: {caller, number of its call}, or {} for a call that
-- counts whenever it is made; a table: {name, counter, {what is added at each of its places}, counter, ...}. returns the
-- totals of just these places, in this order. Most are 0 most of the time and only read; the last is written all the
-- same, to say how many there are. Cost O(places). Atomic, so that a call counts once: its client makes it again when no
-- answer came, and a Redis that hung still does what it was asked for. (Who reads a long table sees part of a batch.)
-- Nothing is written at the memory limit: what is counted can wait.

local DAY = 86400000
local caller, number = ARGS[1][1], ARGS[1][2]
local is_new = true
if caller then
  local key = PREFIX .. 'once:' .. caller
  is_new = number > tonumber(call('GET', key) or 0)
  if is_new then call('SET', key, number, 'PX', DAY) end
end

local totals = {}
for t = 2, #ARGS do
  local counters = ARGS[t]
  local key = PREFIX .. 'c:' .. counters[1]
  for i = 2, #counters, 2 do
    local field, values = ':' .. counters[i], counters[i + 1]
    local last = #values
    for place, value in ipairs(values) do
      local name = place - 1 .. field
      if is_new and (value ~= 0 or place == last) then
        totals[#totals + 1] = call('HINCRBY', key, name, value)
      else
        totals[#totals + 1] = tonumber(call('HGET', key, name)) or 0
      end
    end
  end
end
return cmsgpack.pack(totals)
