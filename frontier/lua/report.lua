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
  if record and record.l.holds == 1 and record.an < 0 and not addresses[record.ip] then
    bound = bound + 1
    ips[bound] = record.ip
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
    local words = chunks[chunk] or {}
    local first = bit - bit % 32
    words[first], chunks[chunk] = (words[first] or 0) + 2 ^ (31 - bit % 32), words
  elseif not record and call('GETBIT', P .. 'done:' .. chunk, bit) == 0 then
    answers[i] = 0
  end
end
-- a lease ends once: its bit is not set yet, so that the bits of a word can be added
for chunk, words in pairs(chunks) do
  local additions, last = {}, 0
  for first, bits in pairs(words) do
    additions[last + 1], additions[last + 2] = 'INCRBY', 'u32'
    additions[last + 3], additions[last + 4] = whole(first), whole(bits)
    last = last + 4
  end
  call('BITFIELD', P .. 'done:' .. chunk, unpack(additions))
  call('EXPIRE', P .. 'done:' .. chunk, 1209600)
end
commit()
return cmsgpack.pack(answers)
