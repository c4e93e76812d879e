-- End leases with their outcomes. ARGV[2]: map of columns h authority, o struct of both halves of the token, place of the
-- result in results, age of the end of the answer, fetch_ms, jitter, bytes, words; more: index -> map of the other fields
-- (see _finish.lua); results, rows: names and rows. returns {1 or 0 each}: accepted, also when it was accepted before.
-- Cost O(outcomes * log(authorities)). Atomic, so that a lease ends once.

call('DEL', P .. 'oom')
local TOKEN, OUTCOME = '<dI4', '<dI4Hddddd'
local authorities, held, ips, bound = A.h, {}, {}, 0
read_texts(authorities)
for i = 1, #authorities do
  local number, key = unpack_struct(TOKEN, A.o[i])
  local record = leased(authorities[i], number, key)
  local ip = record and record.l.holds == 1 and record.ip
  if ip and not addresses[ip] then
    bound = bound + 1
    ips[bound] = ip
  end
  held[i] = record or false
end
load_addresses(ips)

-- now was rounded down: an answer must not seem to have ended before it did
local tick = C.now and 0 or 1
local answers, chunks = {}, {}
for i = 1, #authorities do
  local number, _, result, age, fetch_ms, jitter, bytes, words = unpack_struct(OUTCOME, A.o[i])
  local chunk, bit = floor(number / 1048576), number % 1048576
  local record = held[i]
  answers[i] = 1
  -- without lease: this very token was among the outcomes before
  if record and record.l then
    local outcome = { r = A.results[result], f = fetch_ms, j = jitter, b = bytes, w = words }
    for name, value in pairs(A.more[i] or NO_OTHERS) do outcome[name] = value end
    finish(authorities[i], record, outcome, A.rows[result], max(now + tick - max(0, age), record.l.due))
    local sets = chunks[chunk] or {}
    local last = #sets
    sets[last + 1], sets[last + 2], sets[last + 3], sets[last + 4] = 'SET', 'u1', whole(bit), '1'
    chunks[chunk] = sets
  elseif not record and call('GETBIT', P .. 'done:' .. chunk, bit) == 0 then
    answers[i] = 0
  end
end
for chunk, sets in pairs(chunks) do
  call('BITFIELD', P .. 'done:' .. chunk, unpack(sets))
  call('EXPIRE', P .. 'done:' .. chunk, 1209600)
end
commit()
return cmsgpack.pack(answers)
