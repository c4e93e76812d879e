-- Give authorities rules of their own, or the crawl's again. ARGV[1]: list of {authority, delay, address delay, most
-- pages, most bytes; -1 = the crawl's rule}. Who rests since it had all that its rules allowed is looked at again. returns
-- their number.
-- Cost O(authorities). Atomic, so that each has all of its rules or those of before.

call('DEL', PREFIX .. 'oom')
local names = {}
for i, rules in ipairs(ARGS) do names[i] = rules[1] end
read_texts(names)
for _, rules in ipairs(ARGS) do
  local authority, delay, address_delay, pages, bytes = unpack(rules)
  local record = ensure_record(authority)
  local others = others_of(record)
  others.dl, others.al = delay >= 0 and delay or nil, address_delay >= 0 and address_delay or nil
  others.mp, others.mb = pages >= 0 and pages or nil, bytes >= 0 and bytes or nil
  local own = others.dl or others.al or others.mp or others.mb
  if others.gr == 'quota' or others.gr == 'quota_bytes' then
    others.g, others.gr = nil, nil
    reschedule(authority, record)
  end
  call(own and 'SADD' or 'SREM', PREFIX .. 'configured', authority)
end
commit()
return cmsgpack.pack(#ARGS)
