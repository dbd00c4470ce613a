-- The short way of refresh.lua, which describes KEYS and ARGV: many share it, and nobody waits. With many holds, most of the time
-- goes to reading them.
--@ takes clock
--@ gives RAW

local RAW = redis.call('GET', KEYS[1])

do
  local MANY = 1000
  local mine = ' ' .. ARGV[1] .. ':'
  local from = RAW and not tonumber(ARGV[4]) and #RAW > MANY and string.sub(RAW, 1, 5) == 'L1S0 ' and string.find(RAW, mine, 1, true)
  if from then
    local us, ms, attempt, who, since, rest = string.match(RAW, '^(%d+):(%d+):([^: ]+):?(%d*):?(%d*)()', from + #mine)
    local now, ends = clock(), us + 1000 * ms
    local is_longer = ARGV[5] == 's' or now + 1000 * ARGV[2] >= ends
    local is_plain = string.sub(RAW, rest, rest) ~= ':'
    if ends > tonumber(now) and is_longer and is_plain then
      who = who ~= '' and who or string.match(attempt, '^(%d+)%.') or ''
      local hold = mine .. now .. ':' .. ARGV[2] .. ':0:' .. who .. ':' .. (since ~= '' and since or us)
      local all = string.sub(RAW, 1, from - 1) .. hold .. string.sub(RAW, rest)
      local keep = math.max(redis.call('PTTL', KEYS[1]), ARGV[2] + ARGV[3])
      if not redis.pcall('SET', KEYS[1], all, 'PX', string.format('%.0f', keep)).err then
        return 0
      end
    end
  end
end
