-- Starts the lease of permits again.
--@ takes RAW, NOW, FOREIGN, read, write, seek, extend, know, wake
-- KEYS[1] who holds
-- ARGV    1 token   2 TTL in ms   3 change: e the lease never ends sooner than it would, s it may
-- returns 0: done     {-3, 1}: nothing is held

if RAW and string.sub(RAW, 1, 2) ~= 'P1' then
  return redis.error_reply(FOREIGN)
end
local state = read(RAW, NOW)
local own = seek(state, ARGV[1])
if not own then
  return { -3, 1 }
end
know(state, own)
if extend(state, own, ARGV[2], ARGV[3]) and state.flag ~= '0' then
  wake()
end
return state.changed and write(state) or 0
