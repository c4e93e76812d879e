-- Give unused leases back. ARGV[1]: list of {authority, both halves of the token}. returns the number that were held.
-- Cost O(leases * log(authorities)). Atomic, so that nobody sees an authority without its URL.

call('DEL', P .. 'oom')
local number = 0
for _, lease in ipairs(A) do
  local record = leased(lease[1], lease[2], lease[3])
  if record then
    give_back(lease[1], record)
    number = number + 1
  end
end
commit()
return cmsgpack.pack(number)
