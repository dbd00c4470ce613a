-- Ends a wait: leaves the queue, and undoes what this very attempt was granted; what was held before it stays.
-- KEYS[1] the state
-- ARGV    1 token   2 attempt   3 its member of the queue up to the push   4 retention in ms
-- returns 1: it waited     2: a grant was undone     0: neither

local attempt = ARGV[2]
local ended = redis.call('ZREM', QUEUE, ARGV[3] .. '0', ARGV[3] .. '1', ARGV[3] .. '2')
local raw = redis.call('GET', STATE)
if not raw then
  return ended
end
if string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end

local state = read(raw, clock())
if state.flag == '2' then
  redis.call('HDEL', BEATS, attempt)
end
for i = #state.live, 1, -1 do
  local hold = state.live[i]
  if hold.token == ARGV[1] and hold.attempt == attempt then
    table.remove(state.live, i)
    state.mode = #state.live == 0 and 'F' or state.mode
    ended, state.changed = 2, true
  elseif hold.token == ARGV[1] and hold.attempt == attempt .. '^' then
    -- Named anew, so that a second cancel of this attempt does not take the shared hold as well.
    hold.attempt, state.mode, state.letter = '0', 'S', 'S'
    ended, state.changed = 2, true
  end
end
if ended > 0 then
  serve(state)
end
if state.changed or state.granted then
  local written = write(state, state.granted and ARGV[4])
  if written.err and #state.live + #state.expired > 0 then
    return written
  elseif written.err then
    redis.call('DEL', STATE)
  end
end
return ended
