-- Records as they are, and the heads of their queues. ARGV[2]: {most elements of a queue, list of authorities}. returns for
-- each authority {record or '', the elements of its eight lists, best band first}
-- Cost O(authorities + elements). Atomic, so that each URL is in the record or in one of the lists.

local most, authorities = A[1], A[2]
local found = {}
read_texts(authorities)
for i, authority in ipairs(authorities) do
  local queues = {}
  if most > 0 then
    for band = 0, BANDS - 1 do queues[band + 1] = call('LRANGE', queue_key(authority, band), 0, most - 1) end
  end
  found[i] = { text_of(authority) or '', queues }
end
return cmsgpack.pack(found)
