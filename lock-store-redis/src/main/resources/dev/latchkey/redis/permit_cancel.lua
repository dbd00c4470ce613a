-- Ends a wait: removes the attempt from the queue, and undoes what it was granted.
--@ takes clock, HOLDS, QUEUE, BEATS, FOREIGN, read, write, seek, forget, hasten, serve
-- KEYS[1] who holds
-- ARGV    1 token   2 attempt   3 and on: what may stand for it in the queue
-- returns 1: it waited     2: a grant was undone     0: neither

local ended = redis.call('ZREM', QUEUE, unpack(ARGV, 3))
redis.pcall('HDEL', BEATS, ARGV[2])
local raw = redis.call('GET', HOLDS)
if not raw then
  return ended
end
if string.sub(raw, 1, 2) ~= 'P1' then
  return redis.error_reply(FOREIGN)
end
local state = read(raw, clock())
local own = seek(state, ARGV[1])
if own and own.attempt == ARGV[2] then
  ended = 2
  forget(state, ARGV[1])
end
if ended > 0 then
  serve(state)
  if state.flag ~= '0' then
    hasten(state)
  end
end
return state.changed and write(state) or ended
