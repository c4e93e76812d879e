-- The frontier's clock, which nobody sets: Redis' own TIME, less all that it was set forward or back by. In front of
-- every script of the frontier, and of turns.lua.
--
-- ARGV[2]  only in tests: now; else ''
-- ARGV[3]  what now is at least and
-- ARGV[4]  at most when the caller sends this, by its machine's own clock and what it was told before; '' when it was
--          told nothing yet, the first also when that is long ago; the second more by what calls have taken lately
-- ARGV[5], ARGV[6]  `ahead` as the caller has found it to be wrong, since TIME was set forward, and as it ought to be; or
--          '', ''
-- clock    now; ahead, of TIME; late: by how much this is later than the caller can wait for an answer, or seems to be,
--          since TIME was set forward; 0 when it is not; spread: what now may be later than that, in a call that has
--          found TIME to be wrong; jumped: when it was last found to be set forward, or -1
--
-- Kept in {ulwembu}:clock, one for all crawls since they share TIME (in a Cluster they do not, and now is TIME): ahead;
-- an instant that was, KEPT_MS old at most while any are at work; jumped. TIME behind that instant or behind the
-- caller's least, by more than clocks differ, was set back. Of TIME beyond the caller's most and that instant only who
-- has the answer knows whether it was set forward, or Redis stood still with the call in its hands: until it says so,
-- such a call is taken to be as early as it can be, and leases nothing. While nobody calls, TIME set forward is time
-- that has passed. Written with pcall: a full Redis may refuse it, and each caller then finds the same again.

local CLOCK_KEY, KEPT_MS, BACK_MS, FORWARD_MS = '{ulwembu}:clock', 500, 100, 500

local function clock_of(machine)
  local clock, last = { now = machine, ahead = 0, late = 0, spread = 0, jumped = -1 }, 0
  local text = redis.pcall('GET', CLOCK_KEY)
  if type(text) == 'table' then return clock end
  if text and #text == 24 then clock.ahead, last, clock.jumped = struct.unpack('<ddd', text) end
  local least, most = math.max(last, tonumber(ARGV[3]) or 0), tonumber(ARGV[4])
  local before = clock.ahead
  if before == tonumber(ARGV[5]) then
    clock.ahead = tonumber(ARGV[6])
    clock.jumped = machine + clock.ahead
  end
  clock.now = machine + clock.ahead
  if clock.now < least - BACK_MS then
    clock.now, clock.ahead, clock.spread = least, least - machine, math.max(0, (most or 0) - least)
  elseif clock.now > last + KEPT_MS + FORWARD_MS and most and clock.now > most + FORWARD_MS then
    clock.now, clock.late, clock.spread = least, clock.now - least, math.max(0, most - least)
    return clock
  end
  if clock.ahead ~= before or clock.now - last >= KEPT_MS and (most or clock.now - last <= KEPT_MS + FORWARD_MS) then
    redis.pcall('SET', CLOCK_KEY, struct.pack('<ddd', clock.ahead, clock.now, clock.jumped))
  end
  return clock
end

local clock = { now = tonumber(ARGV[2]), ahead = 0, late = 0, spread = 0, jumped = -1 }
if not clock.now then
  local t = redis.call('TIME')
  clock = clock_of(t[1] * 1000 + math.floor(t[2] / 1000))
end
local now = clock.now
