-- The short way of acquire.lua, which describes KEYS and ARGV: nobody holds the lock, and nobody waits. Not for those with a
-- ticket: the queue, in which they stand, may be there even if the state is lost. Without a ticket, a waiter may stand in it as
-- well, if this is a copy of its first request.
--@ takes clock, LAST_FENCE, USED_UP
--@ gives RAW, NOW, LEAST_FENCE

local RAW, NOW = redis.call('GET', KEYS[1]), clock()
-- What a new fencing token is at least: the time; or the proposal of the caller, unless it is too far ahead of the time.
local LEAST_FENCE = string.sub(ARGV[5], 2)
if LEAST_FENCE <= NOW or LEAST_FENCE - NOW > 1000000 then
  LEAST_FENCE = NOW
end

do
  local want = string.sub(ARGV[5], 1, 1)
  local is_new = (want == 'x' or want == 's') and (not ARGV[6] or string.find(ARGV[6], '^%S+ %S+ 0 '))
  if is_new and not RAW then
    is_new = not (ARGV[6] and redis.call('ZRANGE', KEYS[1] .. ':q', 0, 0)[1])
  end
  if is_new and (not RAW or string.sub(RAW, 1, 5) == 'L1F0 ') then
    local number = RAW and string.sub(RAW, 6, 21) or LEAST_FENCE
    if want == 'x' and RAW then
      if number >= LAST_FENCE then
        return redis.error_reply(USED_UP)
      end
      number = number < LEAST_FENCE and LEAST_FENCE or string.format('%.0f', number + 1)
    end
    local mode = want == 'x' and 'L1X0 ' or 'L1S0 '
    local hold = mode .. number .. ' ' .. ARGV[1] .. ':' .. NOW .. ':' .. ARGV[2] .. ':' .. ARGV[4]
    redis.call('SET', KEYS[1], hold, 'PX', ARGV[3])
    return tonumber(number)
  end
end
