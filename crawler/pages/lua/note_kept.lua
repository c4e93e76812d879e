-- Tell the fleet of pages that are to be kept, and hear what the others have told since.
-- KEYS: 1 texts (string, the log), 2 the log before it, 3 turn (how many logs there were before), 4 flagged (hash,
--       counts), 5 the counts before them, 6 number of the caller's last call that was done, kept for a day
-- ARGV: 1 entries to append (32 bytes each), 2 and 3 turn and length of the log as the caller knows it (turn -1: nothing),
--       4 bytes from which on a log is full, 5 counts from which on their table is full, 6 number of the call, then fields
--       and what is added. A call that was done, or is older than one that was, reads only: a Redis that hung does what
--       it was asked for meanwhile, and its client has asked again
-- Returns: turn and length of the log now; whether what follows is all there is (1) or what is new (0); what follows of
--       the log before, and of this one; the counts of the fields.
-- Two logs and two tables of counts, of which the older is dropped whole when the newer is full: memory is bounded, and
-- what was met lately is known. O(fields + bytes returned), and where a full table drops the older one O(its counts).
-- Atomic, so that of two workers one hears of the other, and no count is given out twice.
local texts, before, turns, flagged, flagged_before, once = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local DAY = 86400000
local call = redis.call
local is_new = tonumber(ARGV[6]) > tonumber(call('GET', once) or '0')
if is_new then call('SET', once, ARGV[6], 'PX', DAY) end
local turn = tonumber(call('GET', turns) or '0')
if call('STRLEN', texts) >= tonumber(ARGV[4]) then
  call('RENAME', texts, before)
  turn = call('INCR', turns)
end
local known, at = tonumber(ARGV[2]), tonumber(ARGV[3])
-- A log shorter than the caller knows it lost its end with a Redis that was killed.
local whole = (known ~= turn and known ~= turn - 1) or at > call('STRLEN', known == turn and texts or before)
local older, newer = '', ''
if whole then
  older, newer = call('GET', before) or '', call('GET', texts) or ''
elseif known == turn then
  newer = call('GETRANGE', texts, at, -1)
else
  older, newer = call('GETRANGE', before, at, -1), call('GET', texts) or ''
end
local size = call('APPEND', texts, is_new and ARGV[1] or '')
if call('HLEN', flagged) >= tonumber(ARGV[5]) then call('RENAME', flagged, flagged_before) end
local counts = {}
for i = 7, #ARGV, 2 do
  local had = call('HGET', flagged_before, ARGV[i])
  if had then
    call('HDEL', flagged_before, ARGV[i])
    call('HINCRBY', flagged, ARGV[i], had)
  end
  local count = call('HINCRBY', flagged, ARGV[i], is_new and ARGV[i + 1] or 0)
  -- What a killed Redis has forgotten may be given back all the same.
  if count < 0 then
    call('HSET', flagged, ARGV[i], 0)
    count = 0
  end
  counts[#counts + 1] = count
end
return { turn, size, whole and 1 or 0, older, newer, counts }
