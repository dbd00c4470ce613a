-- Stands first in every operation.

-- The server's time in microseconds, as text of 16 digits.
local function clock()
  local time = redis.call('TIME')
  return time[1] .. string.sub('000000', #time[2] + 1) .. time[2]
end
