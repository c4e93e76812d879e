-- Move waiting URLs to the bands of new scores. ARGV[1]: {authority, most places looked at in a band, element, score
-- (0-255), element, score, ...}; they go to the ends of their bands in this order. returns the number found and moved.
-- Cost O(elements * places). Atomic, so that no URL is ever missing or in two bands, and the place in line fits.

call('DEL', PREFIX .. 'oom')
local authority, places, moved = ARGS[1], ARGS[2], 0
local record = load_record(authority)
if not record or record.queued == 0 then return cmsgpack.pack(0) end
for i = 3, #ARGS, 2 do
  local element, score = ARGS[i], ARGS[i + 1]
  local band = band_of(element)
  if take_out(authority, record, element, band, places) then
    push(authority, record, sub(element, 1, 2) .. string.char(score) .. sub(element, 4))
    moved = moved + 1
  end
end
if moved > 0 then reschedule(authority, record) end
commit()
return cmsgpack.pack(moved)
