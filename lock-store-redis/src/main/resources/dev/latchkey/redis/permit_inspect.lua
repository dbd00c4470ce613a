-- Shows who holds permits. Writes nothing, and shows no token.
--@ takes clock, HOLDS, FOREIGN, read
-- KEYS[1] who holds
-- returns for each holder its permits, N, the us until its lease ends, the us since it was granted, its inbox

local raw = redis.call('GET', HOLDS)
if raw and string.sub(raw, 1, 2) ~= 'P1' then
  return redis.error_reply(FOREIGN)
end
local state, found = read(raw, clock()), {}
for _, hold in ipairs(state.holds) do
  local who = hold.who ~= '' and hold.who or string.match(hold.attempt, '^%d+')
  for _, number in ipairs({ hold.count, hold.limit, hold.ends - state.at, math.max(0, state.at - hold.since), who }) do
    found[#found + 1] = tonumber(number)
  end
end
return found
