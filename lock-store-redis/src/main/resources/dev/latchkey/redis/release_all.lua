-- Gives up whatever tokens hold, one for each resource, and hands it to the next who wait.
-- KEYS    the states
-- ARGV    1 retention in ms   1 + i the token for KEYS[i]
-- returns how many were ours, with nobody else having had them since

local at, ours = clock(), 0
for i, key in ipairs(KEYS) do
  STATE, QUEUE, BEATS = key, key .. ':q', key .. ':h'
  local token, raw = ARGV[1 + i], redis.call('GET', key)
  if raw and string.sub(raw, 1, 2) == 'L1' and string.find(raw, ' ' .. token .. ':', 1, true) then
    ours = ours + 1
    local state = read(raw, at)
    for _, holds in ipairs({ state.live, state.expired }) do
      for n = #holds, 1, -1 do
        if holds[n].token == token then
          table.remove(holds, n)
        end
      end
    end
    state.mode = #state.live == 0 and 'F' or state.mode
    serve(state)
    local written = write(state, state.granted and ARGV[1])
    if written.err and #state.live + #state.expired > 0 then
      return written
    elseif written.err then
      -- Out of memory: letting go must be possible. The next fencing token grows by the clock.
      redis.call('DEL', key)
    end
  end
end
return ours
