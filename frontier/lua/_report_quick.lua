-- The quick way of report.lua: an answer that asks for nothing but the delay, of a host with nothing of its own, is
-- written down without a table of its record.

local OUTCOME, OUTCOME_BYTES, NO_MARK, ROBOTS = '<dI4Hdddddc8', 62, string.rep('\0', MARK_BYTES), 1
-- now was rounded down, and may be as early as can be: an answer must not seem to have ended before it did
local tick = (ARGV[2] == '' and 1 or 0) + clock.spread
local authorities, packed, more = ARGS.authorities, ARGS.outcomes, ARGS.more
local equal_pages, some_equal_pages = SETTINGS.equal_pages, SETTINGS.some_equal_pages

-- those accepted, by the lease's number: a bit each; 2^20 numbers a chunk -> 32 numbers a word -> bits
local chunks = {}

local function note_end(number)
  local chunk, bit = floor(number / 1048576), number % 1048576
  local words, first = chunks[chunk], bit - bit % 32
  if not words then
    words = {}
    chunks[chunk] = words
  end
  words[first] = (words[first] or 0) + 2 ^ (31 - bit % 32)
end

-- a lease ends once: its bit is not set yet, so that the bits of a word can be added
local function write_ends()
  for chunk, words in pairs(chunks) do
    local additions, last = {}, 0
    for first, bits in pairs(words) do
      additions[last + 1], additions[last + 2] = 'INCRBY', 'u32'
      additions[last + 3], additions[last + 4] = whole(first), whole(bits)
      last = last + 4
    end
    call('BITFIELD', PREFIX .. 'done:' .. chunk, unpack(additions))
    call('EXPIRE', PREFIX .. 'done:' .. chunk, 1209600)
  end
  chunks = {}
end

local LEASED_PAGE = '<BBddddI4dI4I4I4I4I4Bc0c16ddI4BI4B' -- up to the element's first byte
local ENDED = '<BBddddI4dI4I4I4I4I4Bc0c16'
local answers, counted, is_plain, page_of = {}, {}, {}, {}
local pages_seen, bytes_seen, words_seen = 0, 0, 0
for i, rule in ipairs(ARGS.rows) do
  counted[i], page_of[i] = 0, rule.page and 1 or 0
  is_plain[i] = rule.sent and rule.retries == 0 and rule.rest_base_ms == 0 and not SETTINGS.audit
end

-- marks and balance after a page of this score (0-255); nil where they are so many that something must be done
local function marked_few(marks, balance, page_mark, score)
  if equal_pages == 0 or page_mark == NO_MARK then return marks, balance end
  marks, balance = marked(marks, balance, page_mark)
  local is_worst = score < 256 / BANDS
  if balance >= equal_pages or is_worst and balance >= some_equal_pages then return nil end
  return marks, balance
end

-- whether the lease of outcome i could be ended this way; place: of the outcome in `packed`
local function end_plain(i, place, key_of_record, text)
  local flags = byte(text) - HELD
  if flags < 0 or flags >= ENDS_SLOWLY then return false end
  local token_number, token_key, result, age, fetch_ms, _, bytes, words, page_mark =
    unpack_struct(OUTCOME, packed, place)
  if not is_plain[result] or more[i] then return false end
  local _, best, served, next_ms, address_next_ms, address_until_ms, queued, all_bytes, pages, all_words, balance,
    last_fetch_ms, admitted, marks, robots, due, expires, key, holds, length, bits, behind =
    unpack_struct(LEASED_PAGE, text)
  if served ~= token_number or key ~= token_key or expires <= now or holds == 0 then return false end
  if length == 0 or bits % 4 == ROBOTS then return false end
  marks, balance = marked_few(marks, balance, page_mark, byte(text, behind + 1))
  if not marks then return false end
  local end_ms = now + tick - (age > 0 and age or 0)
  if due > end_ms then end_ms = due end
  last_fetch_ms = fetch_ms > 0 and fetch_ms or 0
  local delay, address_delay = delays_of(NO_OTHERS, last_fetch_ms)
  if end_ms + delay > next_ms then next_ms = end_ms + delay end
  if end_ms + address_delay > address_next_ms then address_next_ms = end_ms + address_delay end
  pages, pages_seen = pages + page_of[result], pages_seen + page_of[result]
  bytes_seen, words_seen = bytes_seen + bytes, words_seen + words
  counted[result] = counted[result] + 1
  local head = pack_struct(ENDED, flags, best, served, next_ms, address_next_ms, address_until_ms, queued,
    all_bytes + bytes, pages, all_words + words, balance, last_fetch_ms, admitted, #marks, marks, robots)
  set(key_of_record, head .. sub(text, behind - 1 + length))
  if queued > 0 then
    due_at(start_by(next_ms, address_next_ms, address_until_ms), authorities[i])
  else
    ended_number = ended_number + 1
    ended[ended_number] = authorities[i]
  end
  note_end(served)
  return true
end

local function write_plain()
  for i, number in ipairs(counted) do
    if number > 0 then add(result_add, ARGS.results[i], number) end
  end
  meta_add.pages, meta_add.bytes, meta_add.words = pages_seen, bytes_seen, words_seen
  write_visits()
  write_ends()
end
