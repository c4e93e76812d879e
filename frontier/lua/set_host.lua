-- Change one authority's record by hand. ARGV[1]: {verb, authority, arguments}; verbs:
--   park {reason, ms} -> 1 or 0;  unpark {most, whether it is no first call, which ends rests and robots.txt} -> number of
--   URLs queued;
--   robots_gone -> 1 or 0: its rules are not there any more; 0 when they hold no longer anyway, with nothing changed;
--   pause, resume -> 1 or 0;  drop -> number of URLs
-- Cost O(log(authorities)), unpark O(most), drop O(URLs parked). Atomic, so that its place in line fits its record.

call('DEL', PREFIX .. 'oom')
local verb, authority, args = ARGS[1], ARGS[2], ARGS[3]
local record = load_record(authority)
if not record or verb == 'robots_gone' and record.robots_expires_ms <= now then return cmsgpack.pack(0) end
mark_changed(authority)
local others, answer = others_of(record), 1
if verb == 'park' then
  rest(record, now + args[2], args[1])
elseif verb == 'unpark' then
  if not args[2] then
    others.g, others.gr, others.rg, others.rgr, others.rr, others.e, others.es = nil, nil, nil, nil, nil, nil, nil
    record.robots_expires_ms = min(record.robots_expires_ms, now)
    call('DEL', PREFIX .. 'r:' .. authority)
  end
  answer = unpark(authority, record, FAR, args[1])
elseif verb == 'robots_gone' then
  record.robots_expires_ms = min(record.robots_expires_ms, now)
elseif verb == 'pause' then
  others.z = 1
elseif verb == 'resume' then
  others.z = nil
elseif verb == 'drop' then
  answer = forget_urls(authority, record)
end
reschedule(authority, record)
commit()
return cmsgpack.pack(answer)
