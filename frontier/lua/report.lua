-- End leases with their outcomes. ARGV[2]: map of columns h authority, t and k halves of the token, r result, a age of the
-- end of the answer, f fetch_ms, j jitter, b bytes, w words; more: index -> map of the other fields (see _finish.lua);
-- rows: result -> row. returns {1 or 0 each}: accepted, also when it was accepted before.
-- Cost O(outcomes * log(authorities)). Atomic, so that a lease ends once.

call('DEL', P .. 'oom')
local answers, authorities, numbers, keys = {}, A.h, A.t, A.k
read_texts(authorities)
local ips, bound = {}, 0
for i = 1, #authorities do
  local record = leased(authorities[i], numbers[i], keys[i])
  if record and record.hd == 1 then
    bound = bound + 1
    ips[bound] = record.ip
  end
end
load_addresses(ips)

local function outcome_of(i)
  local outcome, more = { r = A.r[i], f = A.f[i], j = A.j[i], b = A.b[i], w = A.w[i] }, A.more[i]
  if more then
    for name, value in pairs(more) do outcome[name] = value end
  end
  return outcome
end

-- now was rounded down: an answer must not seem to have ended before it did
local tick = C.now and 0 or 1
local ended, chunks = {}, {}
for i = 1, #authorities do
  local authority, number = authorities[i], numbers[i]
  local chunk, bit = floor(number / 1048576), number % 1048576
  local record = leased(authority, number, keys[i])
  answers[i] = 1
  if record then
    finish(authority, record, outcome_of(i), A.rows[A.r[i]], max(now + tick - max(0, A.a[i]), record.du))
    ended[number] = true
    local sets = chunks[chunk] or {}
    local last = #sets
    sets[last + 1], sets[last + 2], sets[last + 3], sets[last + 4] = 'SET', 'u1', whole(bit), '1'
    chunks[chunk] = sets
  elseif not ended[number] and call('GETBIT', P .. 'done:' .. chunk, bit) == 0 then
    answers[i] = 0
  end
end
for chunk, sets in pairs(chunks) do
  call('BITFIELD', P .. 'done:' .. chunk, unpack(sets))
  call('EXPIRE', P .. 'done:' .. chunk, 1209600)
end
commit()
return cmsgpack.pack(answers)
