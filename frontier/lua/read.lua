-- Records as they are, and the heads of their queues. ARGV[1]: {most elements of a queue, list of authorities}. returns
-- for each authority {record or '', the elements of its eight lists, best band first}; few URLs lie in the record
-- instead Cost O(authorities + elements). Atomic, so that each URL is in the record or in one of the lists. Made of few
-- parts, since a crawl that scores its queues anew asks as often as it leases.

local most, found = A[1], {}
for i, authority in ipairs(A[2]) do
  local queues = {}
  if most > 0 then
    for band = 0, BANDS - 1 do queues[band + 1] = call('LRANGE', queue_key(authority, band), 0, most - 1) end
  end
  found[i] = { call('GET', P .. 'a:' .. authority) or newcomer(authority) or '', queues }
end
return cmsgpack.pack(found)
