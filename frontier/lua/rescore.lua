-- Move waiting URLs to the bands of new scores. ARGV[1]: {most places looked at in a band, {authority, element, score
-- (0-255), element, score, ...}, ...}; they go to the ends of their bands in this order. returns the number found and
-- moved. Cost O(elements * places). Atomic, so that no URL is ever missing or in two bands, and the places in line fit.

call('DEL', PREFIX .. 'oom')
local places, authorities, moved = ARGS[1], {}, 0

local function move(authority, record, moves)
  local before = moved
  for i = 2, #moves, 2 do
    local element, score = moves[i], moves[i + 1]
    if take_out(authority, record, element, band_of(element), places) then
      push(authority, record, sub(element, 1, 2) .. string.char(score) .. sub(element, 4))
      moved = moved + 1
    end
  end
  if moved > before then reschedule(authority, record) end
end

for i = 2, #ARGS do authorities[i - 1] = ARGS[i][1] end
read_texts(authorities)
for i = 2, #ARGS do
  local record = load_record(ARGS[i][1])
  if record and record.queued > 0 then move(ARGS[i][1], record, ARGS[i]) end
end
commit()
return cmsgpack.pack(moved)
