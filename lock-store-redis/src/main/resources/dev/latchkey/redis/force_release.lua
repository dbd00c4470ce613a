-- Ends the exclusive hold with a fencing token, whoever has it, and grants the lock to the next waiters.
--@ takes clock, STATE, FOREIGN, read, write_released, forget, serve
-- KEYS[1] the state
-- ARGV    1 the fencing token, 16 digits   2 retention in ms
-- returns {1, its inbox or 0}: it was ended     {0}: there is no such hold

local raw = redis.call('GET', STATE)
if raw and string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end
local state = read(raw, clock())
local hold = state.live[1]
if not hold or state.mode ~= 'X' or state.fence ~= ARGV[1] then
  return { 0 }
end
forget(state, hold.token)
serve(state)
return write_released(state, state.granted and ARGV[2]) or { 1, tonumber(hold.who) or 0 }
