-- The short ways of permit_acquire.lua, which describes KEYS and ARGV, for the first request of a token while no lease has ended:
-- so many permits are free, and nobody waits; or none is free, and others wait.
--@ takes clock
--@ gives RAW, NOW

local RAW, NOW = redis.call('GET', KEYS[1]), clock()

do
  local count, limit = string.match(ARGV[4], '^(%d+)/(%d+)$')
  local poll, push = string.match(ARGV[5], '^0 %a (%d+) 0 (%d)$')
  local is_first = poll and not ARGV[6]
  if RAW then
    is_first = is_first and string.sub(RAW, 1, 2) == 'P1' and not string.find(RAW, ' ' .. ARGV[1] .. ':', 1, true)
  end
  local flag = RAW and string.match(RAW, '^P1(%d)') or '0'
  local held, least, ends = 0, tonumber(limit), NOW + 1000 * ARGV[2]
  local first, last = ends, ends
  for other_ends, others, other_limit in string.gmatch(is_first and RAW or '', ':(%d+):(%d+):(%d+):%d+:') do
    is_first = is_first and other_ends > NOW
    held, least = held + others, math.min(least, tonumber(other_limit))
    first, last = math.min(first, tonumber(other_ends)), math.max(last, tonumber(other_ends))
  end
  if is_first and not RAW and poll ~= '0' then
    -- It may be in the queue, if this is a copy of its first request, although the state is lost.
    is_first = not redis.call('ZRANGE', KEYS[1] .. ':q', 0, 0)[1]
  end
  if is_first and flag == '0' and held + count <= least then
    local hold = ' ' .. ARGV[1] .. ':' .. string.format('%.0f', ends) .. ':' .. count .. ':' .. limit .. ':' .. NOW .. ':' .. ARGV[3]
    redis.call('SET', KEYS[1], (RAW or 'P10') .. hold, 'PX', math.ceil((last - NOW) / 1000))
    return 1
  end
  if is_first and flag ~= '0' and poll ~= '0' and held >= least then
    local queue = KEYS[1] .. ':q'
    redis.call('ZADD', queue, 'NX', NOW, table.concat({ ARGV[1], ARGV[3], ARGV[4], ARGV[2], poll, push }, ' '))
    redis.call('PEXPIRE', queue, 60000)
    return { 0, tonumber(NOW), tonumber(NOW), -1, math.ceil((first - NOW) / 1000) }
  end
end
