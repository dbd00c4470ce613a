-- The short way of acquire.lua, in front of the prelude: nobody holds and nobody waits. KEYS and ARGV are described there.

local raw = redis.call('GET', KEYS[1])
local at = clock()
local token, ttl, attempt, want, wish = ARGV[1], ARGV[2], ARGV[4], string.sub(ARGV[5], 1, 1), string.sub(ARGV[5], 2)
-- What a new fencing token is at least: the time; or what is wished, unless that is too far ahead of it.
local from = wish > at and wish - at <= 1000000 and wish or at
if (want == 'x' or want == 's') and (not raw or string.sub(raw, 1, 5) == 'L1F0 ') then
  local number = raw and string.sub(raw, 6, 21) or from
  if want == 'x' and raw then
    if number >= LAST_FENCE then
      return redis.error_reply(USED_UP)
    end
    number = number < from and from or string.format('%.0f', number + 1)
  end
  local mode = want == 'x' and 'L1X0 ' or 'L1S0 '
  local hold = mode .. number .. ' ' .. token .. ':' .. at .. ':' .. ttl .. ':' .. attempt
  redis.call('SET', KEYS[1], hold, 'PX', ARGV[3])
  return tonumber(number)
end

