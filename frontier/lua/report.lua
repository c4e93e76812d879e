-- End leases with their outcomes. ARGV[1]: map authorities; once, whether they differ; outcomes, structs one after
-- another: both halves of the token, place of the result in results, age of the end of the answer, fetch_ms, jitter,
-- bytes, words, page mark (zeros: none); more: index -> map of the other fields (see _finish.lua); results: their
-- names; rows: their rows of the outcome table.
-- returns {1 or 0 each}: accepted, also when it was accepted before.
-- Cost O(outcomes * log(authorities)). Atomic, so that a lease ends once.

call('DEL', PREFIX .. 'oom')
local keys, others = {}, {}
for i = 1, #authorities do keys[i] = RECORD_KEY .. authorities[i] end
local found = call('MGET', unpack(keys))
for i = 1, #authorities do
  local text = found[i]
  if text and ARGS.once and end_plain(i, 1 + (i - 1) * OUTCOME_BYTES, keys[i], text) then
    answers[i] = 1
  else
    others[#others + 1] = i
  end
end
write_plain()
if others[1] then define_slow_way()(others) end
return cmsgpack.pack(answers)
