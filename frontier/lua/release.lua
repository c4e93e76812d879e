-- Give unused leases back. ARGV[2]: list of tokens. returns the number that were held.
-- Cost O(tokens * log(authorities)). Atomic, so that nobody sees an authority without its URL.

call('DEL', P .. 'oom')
local number = 0
for _, token in ipairs(A) do
  local lease = living(token)
  if lease then
    give_back(token, lease)
    number = number + 1
  end
end
commit()
return cmsgpack.pack(number)
