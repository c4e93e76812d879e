-- The slow way of report.lua: everything that the end of a lease may bring, on whole records.

local TOKEN = '<dI4'
local held, ips = {}, {}

local function hold(i)
  local number, key = unpack_struct(TOKEN, packed, 1 + (i - 1) * OUTCOME_BYTES)
  local record = leased(authorities[i], number, key)
  if record and record.lease.holds == 1 and record.address_next_ms < 0 and not addresses[record.address] then
    ips[#ips + 1] = record.address
  end
  held[i] = record or false
end

-- 1 when the outcome is accepted, else 0
local function end_lease_of(i)
  local record = held[i]
  local number, _, result, age, fetch_ms, jitter, bytes, words, page_mark =
    unpack_struct(OUTCOME, packed, 1 + (i - 1) * OUTCOME_BYTES)
  -- without lease: this very token was among the outcomes before
  if record and record.lease then
    local outcome = {
      result = ARGS.results[result], fetch_ms = fetch_ms, jitter = jitter, bytes = bytes, words = words,
    }
    if page_mark ~= NO_MARK then outcome.page_mark = page_mark end
    for name, value in pairs(more[i] or NO_OTHERS) do outcome[name] = value end
    finish(authorities[i], record, outcome, ARGS.rows[result], max(now + tick - max(0, age), record.lease.due))
    note_end(number)
    return 1
  end
  if record then return 1 end
  return call('GETBIT', PREFIX .. 'done:' .. floor(number / 1048576), number % 1048576)
end

-- of those outcomes
return function(others)
  local names = {}
  for number, i in ipairs(others) do names[number] = authorities[i] end
  read_texts(names)
  for _, i in ipairs(others) do hold(i) end
  load_addresses(ips)
  for _, i in ipairs(others) do answers[i] = end_lease_of(i) end
  commit()
  write_ends()
end
