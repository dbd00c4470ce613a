-- Lists who holds a resource. Writes nothing, and shows no token.
--@ takes clock, STATE, FOREIGN, read
-- KEYS[1] the state
-- returns {fencing token or 0 if shared, then for each holder the us until its lease ends}

local raw = redis.call('GET', STATE)
if raw and string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end
local state = read(raw, clock())
local found = { state.mode == 'X' and tonumber(state.fence) or 0 }
for _, hold in ipairs(state.live) do
  table.insert(found, hold.ends - state.at)
end
return found
