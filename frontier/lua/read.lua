-- Records as they are, and the heads of their queues. ARGV[1]: {most elements of a queue, list of authorities}. returns
-- for each authority {record or '', the elements of its lists, best band first}; few URLs lie in the record instead.
-- Cost O(authorities + elements). Atomic, so that each URL is in the record or in one of the lists. Made of few parts,
-- since a crawl that scores its queues anew asks often.

local most, authorities, keys, found = ARGS[1], ARGS[2], {}, {}

local function lists_of(authority, text)
  local flags = byte(text)
  local layout = flags >= HELD and LEASED_NOW or flags % 2 == SERVED and SERVED_BEFORE or NEW
  local fields, lists = { unpack_struct(layout, text) }, {}
  local qs, inline_bytes = fields[#fields - 2], fields[#fields - 1]
  if inline_bytes > 0 then return lists end
  for at = 1, #qs, 5 do
    lists[#lists + 1] = call('LRANGE', queue_key(authority, byte(qs, at)), 0, most - 1)
  end
  return lists
end

for i = 1, #authorities do keys[i] = RECORD_KEY .. authorities[i] end
local texts = call('MGET', unpack(keys))
for i, authority in ipairs(authorities) do
  local text = texts[i] or newcomer(authority) or ''
  found[i] = { text, text ~= '' and most > 0 and lists_of(authority, text) or {} }
end
return cmsgpack.pack(found)
