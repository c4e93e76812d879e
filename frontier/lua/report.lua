-- End leases with their outcomes. ARGV[2]: map rows (result -> row), list of outcomes (see _finish.lua; t token, a age of
-- the end of the answer). returns {1 or 0 each}: accepted, also when it was accepted before.
-- Cost O(outcomes * log(authorities)). Atomic, so that a lease ends once.

call('DEL', P .. 'oom')
local answers, tokens = {}, {}
for i, outcome in ipairs(A.list) do tokens[i] = outcome.t end
local held = call('HMGET', P .. 'leases', unpack(tokens))
local ended, chunks = {}, {}
for i, outcome in ipairs(A.list) do
  local token = outcome.t
  local number = tonumber(string.match(token, '^(%x+)%-') or '', 16)
  local chunk, bit = number and floor(number / 1048576), number and number % 1048576
  answers[i] = 0
  local lease = held[i] and cmsgpack.unpack(held[i])
  if lease and lease[5] > now and not ended[token] then
    lease[6] = token
    finish(lease, outcome, A.rows[outcome.r], max(now - max(0, outcome.a or 0), lease[4]))
    ended[token] = true
    ended[#ended + 1] = token
    call('SETBIT', P .. 'done:' .. chunk, bit, 1)
    chunks[chunk] = true
    answers[i] = 1
  elseif number and call('GETBIT', P .. 'done:' .. chunk, bit) == 1 then
    answers[i] = 1
  end
end
if #ended > 0 then
  call('HDEL', P .. 'leases', unpack(ended))
  call('ZREM', P .. 'expiries', unpack(ended))
  for chunk in pairs(chunks) do call('EXPIRE', P .. 'done:' .. chunk, 1209600) end
end
commit()
return cmsgpack.pack(answers)
