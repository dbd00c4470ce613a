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

-- Returns whether this attempt is among several, and the others.
local function without(attempts)
  local found, others = false, {}
  for one in string.gmatch(attempts, '[^+]+') do
    if one == attempt then
      found = true
    else
      others[#others + 1] = one
    end
  end
  return found, table.concat(others, '+')
end

local state = read(raw, clock())
local own = seek(state, ARGV[1])
local all, mark, shared = string.match(own and own.attempt or '', '^([^%^]*)(%^?)(.*)$')
local found, others = without(all)
local found_shared, others_shared = without(shared)
if found and others ~= '' then
  own.attempt, state.changed = others .. mark .. shared, true
elseif found then
  ended, state.changed = 2, true
  if mark == '^' then
    -- Named anew, so that a second cancel of this attempt does not take the shared hold as well.
    own.attempt, state.mode, state.letter = shared == '' and '0' or shared, 'S', 'S'
  else
    forget(state, own.token)
  end
elseif found_shared then
  -- Without it, nobody has the shared hold but those who promoted it.
  own.attempt, state.changed = others_shared == '' and all or all .. mark .. others_shared, true
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
