-- Records as they are, and the heads of their queues. ARGV[2]: {most elements of a queue, list of authorities}. returns for
-- each authority {record or '', the elements of its lists, best band first}; few URLs lie in the record instead
-- Cost O(authorities + elements). Atomic, so that each URL is in the record or in one of the lists.

local most, authorities = A[1], A[2]
local found = {}
read_texts(authorities)
for i, authority in ipairs(authorities) do
  local queues, record = {}, most > 0 and load(authority)
  if record and record.i == '' then
    for _, band in ipairs(bands_of(record)) do
      queues[#queues + 1] = call('LRANGE', queue_key(authority, band[1]), 0, most - 1)
    end
  end
  found[i] = { text_of(authority) or '', queues }
end
return cmsgpack.pack(found)
