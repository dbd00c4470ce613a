-- Ends a wait: removes the attempt from the queue, and undoes what it was granted. What was held before stays.
--@ takes clock, STATE, QUEUE, BEATS, FOREIGN, read, write_released, seek, forget, waiter, hasten, serve
-- KEYS[1] the state
-- ARGV    1 token   2 attempt   3 retention in ms   4 and on: what may stand for it in the queue
-- returns 1: it waited     2: a grant was undone     0: neither, or another attempt relies on the grant

local attempt = ARGV[2]
local head = redis.call('ZRANGE', QUEUE, 0, 0)[1]
local ended = redis.call('ZREM', QUEUE, unpack(ARGV, 4))
redis.pcall('HDEL', BEATS, attempt)
local raw = redis.call('GET', STATE)
if not raw then
  return ended
end
if string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end

-- Returns whether this attempt is among those of a hold, the others, and their mark.
local function without(attempts)
  local found, others = false, {}
  for one in string.gmatch(attempts, '[^+^]+') do
    if one == attempt then
      found = true
    else
      others[#others + 1] = one
    end
  end
  return found, others, string.match(attempts, '%^?$')
end

local state = read(raw, clock())
local own = seek(state, ARGV[1])
local found, others, mark = without(own and own.attempt or '')
if found and others[1] then
  own.attempt, state.changed = table.concat(others, '+') .. mark, true
elseif found then
  ended, state.changed = 2, true
  if mark == '^' then
    -- Named anew, so that a second cancel of this attempt does not take the shared hold as well.
    own.attempt, state.mode, state.letter = '0', 'S', 'S'
  else
    forget(state, own.token)
  end
end
if ended > 0 then
  serve(state)
  local was_first = head and waiter(head)
  if was_first and was_first.attempt == attempt and not state.granted and state.flag ~= '0' then
    hasten(state)
  end
end
if state.changed or state.granted then
  return write_released(state, state.granted and ARGV[3]) or ended
end
return ended
