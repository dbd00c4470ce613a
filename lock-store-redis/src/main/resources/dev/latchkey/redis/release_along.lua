-- The short way of release.lua, which describes KEYS and ARGV, with a waiter that is taken along: the hold is exclusive, nobody
-- is in the queue, and the store does not keep it between uses.
--@ takes RAW, clock, LAST_FENCE

if ARGV[5] then
  local fence, holder = string.match(RAW or '', '^L1X0 (%d+) ([^: ]+):%d+:%d+:[^: ]+:?%d*:?%d*$')
  if holder == ARGV[1] and fence < LAST_FENCE then
    local now = clock()
    local number = fence < now and now or string.format('%.0f', fence + 1)
    local token, attempt, ttl = string.match(ARGV[5], '^(%S+) (%S+) x (%d+) ')
    local hold = 'L1X0 ' .. number .. ' ' .. token .. ':' .. now .. ':' .. ttl .. ':' .. attempt
    if not redis.pcall('SET', KEYS[1], hold, 'PX', string.format('%.0f', ttl + ARGV[3])).err then
      return { 1, tonumber(string.match(attempt, '%d+$')), tonumber(now), tonumber(ttl), tonumber(number) }
    end
  end
end
