-- The short way of release.lua, in front of the prelude: exclusive, and nobody waits. KEYS and ARGV are described there. It is
-- one command: what was there is looked at afterwards, and put back if it was not just that.

local token, number, raw = ARGV[1], ARGV[2], nil
if number ~= '' then
  raw = redis.pcall('SET', KEYS[1], 'L1F0 ' .. number, 'KEEPTTL', 'GET')
  if type(raw) == 'string' then
    local mine = 'L1X0 ' .. number .. ' ' .. token .. ':'
    if string.find(raw, mine, 1, true) == 1 then
      return 1
    end
    redis.call('SET', KEYS[1], raw, 'KEEPTTL')
  elseif not raw then
    redis.call('DEL', KEYS[1])
  else
    raw = redis.call('GET', KEYS[1])
  end
end

