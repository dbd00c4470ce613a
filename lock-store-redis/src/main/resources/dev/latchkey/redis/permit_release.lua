-- Gives back whatever permits a token holds, and grants them to the next waiters.
--@ takes RAW, clock, FOREIGN, read, write, forget, serve
-- KEYS[1] who holds
-- ARGV    1 token
--         2 only from those who know that others wait: their inbox, the attempts of which are '<inbox>.<number>'
-- returns 0: it held nothing     1: it did
--         {1, number, now, ttl ms, 1, ...}: the same, and what waiters of that inbox were granted

if string.sub(RAW, 1, 2) ~= 'P1' then
  return redis.error_reply(FOREIGN)
end
local state = read(RAW, clock())
state.inbox, state.reply = ARGV[2], { forget(state, ARGV[1]) and 1 or 0 }
serve(state)
return state.changed and write(state) or state.reply
