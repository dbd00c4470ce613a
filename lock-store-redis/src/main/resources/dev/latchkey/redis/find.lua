-- Finds what a token holds. Writes nothing.
--@ takes clock, STATE, FOREIGN, read, seek, is_claimed, is_forced
-- KEYS[1] the state
-- ARGV    1 token   2 the fencing token that is claimed; '' for none
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
local used = own.rest and ARGV[2] ~= '' and is_claimed(state, own, ARGV[2]) and ARGV[2] or state.fence
return { state.mode == 'X' and tonumber(used) or 0, own.ends - state.at }
