-- Starts the lease of permits again.
--@ takes clock, HOLDS, FOREIGN, read, write, seek, extend, wake
-- KEYS[1] names the semaphore
-- ARGV    1 token   2 TTL in ms   3 change: e the lease never ends sooner than it would, s it may
-- returns 0: done     {-3, 1}: nothing is held

local raw = redis.call('GET', HOLDS)
if raw and string.sub(raw, 1, 2) ~= 'P1' then
  return redis.error_reply(FOREIGN)
end
local state = read(raw, clock())
local own = seek(state, ARGV[1])
if not own then
  return { -3, 1 }
end
if own.attempt ~= '0' then
  -- Its holder knows of it, so that no late cancel may undo it.
  own.who = own.who == '' and string.match(own.attempt, '^%d+') or own.who
  own.attempt, state.changed = '0', true
end
if extend(state, own, ARGV[2], ARGV[3]) and state.flag ~= '0' then
  wake()
end
return state.changed and write(state) or 0
