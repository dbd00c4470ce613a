-- Ends the exclusive hold with a fencing token, whoever has it, and grants the lock to the next waiters. Tells the store that
-- acquired it, if that listens.
--@ takes clock, STATE, FOREIGN, read, write_released, forget, tell, serve
-- KEYS[1] the state
-- ARGV    1 the fencing token, 16 digits   2 retention in ms
-- returns 1: it was ended     0: there is no such hold

local raw = redis.call('GET', STATE)
if raw and string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end
local state = read(raw, clock())
local hold = state.live[1]
if not hold or state.mode ~= 'X' or state.fence ~= ARGV[1] then
  return 0
end
forget(state, hold.token)
state.forced = { token = '!' .. hold.token, us = state.at }
serve(state)
local failed = write_released(state, state.granted and ARGV[2])
if not failed and hold.who ~= '' then
  tell(hold.who .. '.0', '1', '! ' .. ARGV[1] .. ' ' .. STATE)
end
return failed or 1
