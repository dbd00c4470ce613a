-- Gives up whatever tokens hold, one for each resource, and grants the locks to the next waiters.
--@ takes clock, read, write_released, forget, turn_to, look_up_the_queue, serve
-- KEYS    the states
-- ARGV    1 retention in ms   1 + i the token for KEYS[i]
-- returns how many were ours, with nobody else having had them since

local at, entries, failed = clock(), {}, nil

-- All is read before anything is given up: an error in between would leave some of it given up, and uncounted when it is asked
-- again.
for i, key in ipairs(KEYS) do
  turn_to(key)
  local token, raw = ARGV[1 + i], redis.call('GET', key)
  if raw and string.sub(raw, 1, 2) == 'L1' and string.find(raw, ' ' .. token .. ':', 1, true) then
    local state = read(raw, at)
    look_up_the_queue(state)
    entries[#entries + 1] = { key = key, token = token, state = state }
  end
end

for _, entry in ipairs(entries) do
  turn_to(entry.key)
  local state = entry.state
  forget(state, entry.token)
  serve(state)
  failed = write_released(state, state.granted and ARGV[1]) or failed
end
return failed or #entries
