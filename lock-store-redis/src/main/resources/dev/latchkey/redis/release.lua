-- Gives up whatever a token holds, and hands it to the next who wait.
-- KEYS[1] the state
-- ARGV    1 token   2 the fencing token of an exclusive hold, for the short way; or ''   3 retention in ms
-- returns 1: it was ours, and nobody else has had it since     0: it was not

local token, raw = ARGV[1], nil
if ARGV[2] ~= '' then
  -- The short way is one command: what was there is looked at afterwards, and put back if it was not just that.
  raw = redis.pcall('SET', STATE, 'L1F0 ' .. ARGV[2], 'KEEPTTL', 'GET')
  if type(raw) == 'string' then
    local mine = 'L1X0 ' .. ARGV[2] .. ' ' .. token .. ':'
    if string.sub(raw, 1, #mine) == mine then
      return 1
    end
    redis.call('SET', STATE, raw, 'KEEPTTL')
  elseif not raw then
    redis.call('DEL', STATE)
  else
    raw = redis.call('GET', STATE)
  end
else
  raw = redis.call('GET', STATE)
end
if not raw then
  return 0
end
if string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end
if not string.find(raw, ' ' .. token .. ':', 1, true) then
  return 0
end

local state = read(raw, clock())
for _, holds in ipairs({ state.live, state.expired }) do
  for i = #holds, 1, -1 do
    if holds[i].token == token then
      table.remove(holds, i)
    end
  end
end
state.mode = #state.live == 0 and 'F' or state.mode
serve(state)
local written = write(state, state.granted and ARGV[3])
if written.err then
  if #state.live + #state.expired > 0 then
    return written
  end
  -- Out of memory: letting go must be possible. The next fencing token grows by the clock.
  redis.call('DEL', STATE)
end
return 1
