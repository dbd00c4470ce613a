-- The short way of release.lua, which describes KEYS and ARGV: the hold is exclusive, and nobody waits. It is one command, whose
-- answer is checked afterwards; anything else that was there is put back.
--@ gives RAW

local RAW
if string.find(ARGV[2], '^%d') then
  RAW = redis.pcall('SET', KEYS[1], 'L1F0 ' .. ARGV[2], 'KEEPTTL', 'GET')
  if type(RAW) == 'string' then
    local mine = 'L1X0 ' .. ARGV[2] .. ' ' .. ARGV[1] .. ':'
    if string.find(RAW, mine, 1, true) == 1 then
      return 1
    end
    redis.call('SET', KEYS[1], RAW, 'KEEPTTL')
  elseif not RAW then
    redis.call('DEL', KEYS[1])
  else
    RAW = redis.call('GET', KEYS[1])
  end
else
  RAW = redis.call('GET', KEYS[1])
end
