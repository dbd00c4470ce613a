-- The short way of permit_refresh.lua, which describes KEYS and ARGV: the lease is to end later, and its holder is known to know of
-- it. The other holders are not read: there may be thousands of them, which all refresh.
--@ takes clock
--@ gives RAW, NOW

local RAW, NOW = redis.call('GET', KEYS[1]), clock()

do
  local _, before_it = string.find(RAW or '', ' ' .. ARGV[1] .. ':', 1, true)
  local ends = before_it and string.match(RAW, '^(%d+):%d+:%d+:%d+:0:', before_it + 1)
  local later = string.format('%.0f', NOW + 1000 * ARGV[2])
  if ends and ends > NOW and later > ends and string.sub(RAW, 1, 2) == 'P1' then
    local keep = ARGV[2] + (string.sub(RAW, 3, 3) == '0' and 0 or 60000)
    local extended = string.sub(RAW, 1, before_it) .. later .. string.sub(RAW, before_it + 1 + #ends)
    redis.call('SET', KEYS[1], extended, 'PX', math.max(redis.call('PTTL', KEYS[1]), keep))
    return 0
  end
end
