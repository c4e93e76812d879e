-- End leases with their outcomes. ARGV[2]: map of columns t token, r result, a age of the end of the answer, f fetch_ms,
-- j jitter, b bytes, w words; more: index -> map of the other fields (see _finish.lua); rows: result -> row.
-- returns {1 or 0 each}: accepted, also when it was accepted before.
-- Cost O(outcomes * log(authorities)). Atomic, so that a lease ends once.

call('DEL', P .. 'oom')
local answers, tokens = {}, A.t
local held = call('HMGET', P .. 'leases', unpack(tokens))
local leases, authorities, ips, living, bound = {}, {}, {}, 0, 0
for i = 1, #tokens do
  local lease = held[i] and decode_lease(held[i])
  if lease and lease[5] > now then
    leases[i] = lease
    living = living + 1
    authorities[living] = lease[1]
    if lease[3] ~= '' then
      bound = bound + 1
      ips[bound] = lease[3]
    end
  end
end
read_texts(authorities)
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
local is_ended, ended, number_ended, chunks = {}, {}, 0, {}
for i = 1, #tokens do
  local token, lease = tokens[i], leases[i]
  local number = tonumber(string.match(token, '^(%x+)%-') or '', 16)
  local chunk, bit = number and floor(number / 1048576), number and number % 1048576
  answers[i] = 0
  if lease and not is_ended[token] then
    lease[6] = token
    finish(lease, outcome_of(i), A.rows[A.r[i]], max(now + tick - max(0, A.a[i]), lease[4]))
    number_ended = number_ended + 1
    is_ended[token], ended[number_ended] = true, token
    local sets = chunks[chunk] or {}
    local last = #sets
    sets[last + 1], sets[last + 2], sets[last + 3], sets[last + 4] = 'SET', 'u1', whole(bit), '1'
    chunks[chunk] = sets
    answers[i] = 1
  elseif is_ended[token] or number and call('GETBIT', P .. 'done:' .. chunk, bit) == 1 then
    answers[i] = 1
  end
end
if number_ended > 0 then
  call('HDEL', P .. 'leases', unpack(ended))
  call('ZREM', P .. 'expiries', unpack(ended))
  for chunk, sets in pairs(chunks) do
    call('BITFIELD', P .. 'done:' .. chunk, unpack(sets))
    call('EXPIRE', P .. 'done:' .. chunk, 1209600)
  end
end
commit()
return cmsgpack.pack(answers)
