-- Raises the fencing token of a live exclusive hold, for stores that agree with others on one.
--@ takes clock, STATE, FOREIGN, read, write, seek
-- KEYS[1] the state
-- ARGV    1 token   2 the new fencing token, 16 digits
-- returns 1: it is the token of this hold now     0: the token holds nothing exclusively, or with a greater one; or the new
--         one is more than ten years ahead of the server's clock: tokens go on from there, and come to an end at 2^53

local FARTHEST_US = 3652 * 24 * 60 * 60 * 1000000

local raw = redis.call('GET', STATE)
if raw and string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end
local at = clock()
local state = read(raw, at)
if ARGV[2] - at > FARTHEST_US then
  return 0
end
local own = seek(state, ARGV[1])
if not own or state.mode ~= 'X' or state.fence > ARGV[2] then
  return 0
end
if own.rest then
  own.rest = math.max(0, own.rest - (ARGV[2] - state.fence))
end
state.fence = ARGV[2]
local written = write(state)
if written.err then
  return written
end
return 1
