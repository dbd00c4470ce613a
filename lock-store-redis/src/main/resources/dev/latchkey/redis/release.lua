-- Gives up whatever a token holds, and grants the lock to the next waiters.
--@ takes RAW, clock, STATE, FOREIGN, read, write_released, forget, serve
-- KEYS[1] the state
-- ARGV    1 token   2 the fencing token of an exclusive hold, for the short way; or ''   3 retention in ms
--         4 only from those who know that others wait: their inbox, the attempts of which are '<inbox>.<number>'
-- returns 0: it was not ours     1: it was, and nobody else has had it since     -1: it was ended by force
--         {1, number, now, ttl ms, fencing token, ...}: the same, and what waiters of that inbox were granted

local token, raw = ARGV[1], RAW
if ARGV[2] == '' then
  raw = redis.call('GET', STATE)
end
if not raw then
  return 0
end
if string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end
if not string.find(raw, ' ' .. token .. ':', 1, true) then
  return string.find(raw, ' !' .. token .. ':', 1, true) and -1 or 0
end

local state = read(raw, clock())
state.inbox, state.reply = ARGV[4], { 1 }
forget(state, token)
serve(state)
return write_released(state, state.granted and ARGV[3]) or state.reply
