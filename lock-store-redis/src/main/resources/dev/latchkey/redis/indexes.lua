-- Finds with which changes resources were given up. Writes nothing.
-- KEYS    the states; the indexes are in KEYS[i]:i
-- returns exclusive and shared index of each, 0 where there is none

local found = {}
for _, key in ipairs(KEYS) do
  local exclusive, shared = string.match(redis.call('GET', key .. ':i') or '0 0', '^(%d+) (%d+)$')
  found[#found + 1], found[#found + 2] = tonumber(exclusive), tonumber(shared)
end
return found
