-- Ends a wait: removes the attempt from the queue, and undoes what it was granted. What was held before stays.
--@ takes clock, STATE, QUEUE, BEATS, FOREIGN, read, write_released, forget, waiter, hasten, serve
-- KEYS[1] the state
-- ARGV    1 token   2 attempt   3 retention in ms   4 and on: what may stand for it in the queue
-- returns 1: it waited     2: a grant was undone     0: neither

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

local state = read(raw, clock())
for i = #state.live, 1, -1 do
  local hold = state.live[i]
  if hold.token == ARGV[1] and hold.attempt == attempt then
    forget(state, hold.token)
    ended, state.changed = 2, true
  elseif hold.token == ARGV[1] and hold.attempt == attempt .. '^' then
    -- Named anew, so that a second cancel of this attempt does not take the shared hold as well.
    hold.attempt, state.mode, state.letter = '0', 'S', 'S'
    ended, state.changed = 2, true
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
