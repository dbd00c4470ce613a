--@ gives clock, LAST_FENCE, USED_UP

-- The last fencing token. Beyond 2^53, a number and the next one are the same, and two holds would have one token.
local LAST_FENCE = '9007199254740991'
local USED_UP = 'SATURATED the fencing tokens of this resource are used up: it was raised to the greatest there is'

-- The server's time in microseconds, as text of 16 digits.
local function clock()
  local time = redis.call('TIME')
  return time[1] .. string.sub('000000', #time[2] + 1) .. time[2]
end
