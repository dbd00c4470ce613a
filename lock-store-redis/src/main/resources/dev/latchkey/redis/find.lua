-- Finds what a token holds. Writes nothing.
--@ takes clock, STATE, FOREIGN, read, seek, is_forced
-- KEYS[1] the state
-- ARGV    1 token
-- returns {fencing token or 0 if shared, us until its lease ends}; {} if it holds nothing
--         {-3, 4}: it holds nothing, because its hold was ended by force

local raw = redis.call('GET', STATE)
if raw and string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end
local state = read(raw, clock())
local own = seek(state, ARGV[1])
if not own then
  return is_forced(state, ARGV[1]) and { -3, 4 } or {}
end
return { state.mode == 'X' and tonumber(state.fence) or 0, own.ends - state.at }
