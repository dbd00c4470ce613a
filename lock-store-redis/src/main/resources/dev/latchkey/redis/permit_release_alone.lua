-- The short way of permit_release.lua, which describes KEYS and ARGV: nobody waits.
--@ gives RAW

local RAW = redis.call('GET', KEYS[1])
if not RAW then
  return 0
end
if string.sub(RAW, 1, 3) == 'P10' then
  local from = string.find(RAW, ' ' .. ARGV[1] .. ':', 1, true)
  if not from then
    return 0
  end
  local to = string.find(RAW, ' ', from + 1, true)
  local rest = string.sub(RAW, 1, from - 1) .. (to and string.sub(RAW, to) or '')
  if rest == 'P10' then
    redis.call('DEL', KEYS[1])
  else
    redis.call('SET', KEYS[1], rest, 'KEEPTTL')
  end
  return 1
end
