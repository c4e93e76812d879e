-- Change one authority's record by hand. ARGV[2]: {verb, authority, arguments}; verbs:
--   park {reason, ms} -> 1 or 0;  unpark -> number of URLs queued;  pause, resume -> 1 or 0;  drop -> number of URLs;
--   configure {delay, address delay, most pages; -1 = the crawl's rule} -> 1
-- Cost O(log(authorities)), unpark and drop O(URLs parked). Atomic, so that its place in line fits its record.

call('DEL', P .. 'oom')
local verb, authority, args = A[1], A[2], A[3]
local record = load(authority)
if not record and verb ~= 'configure' then return cmsgpack.pack(0) end
record = make(authority)
local answer = 1
if verb == 'park' then
  record.g, record.gr = now + args[2], args[1]
elseif verb == 'unpark' then
  record.g, record.gr, record.rg, record.rgr, record.rr = nil, nil, nil, nil, nil
  answer = unpark(authority, record, FAR, record.pn)
elseif verb == 'pause' then
  record.z = 1
elseif verb == 'resume' then
  record.z = nil
elseif verb == 'drop' then
  answer = forget_urls(authority, record)
elseif verb == 'configure' then
  record.dl = args[1] >= 0 and args[1] or nil
  record.al = args[2] >= 0 and args[2] or nil
  record.mp = args[3] >= 0 and args[3] or nil
end
if verb ~= 'configure' then replace(authority, record) end
commit()
return cmsgpack.pack(answer)
