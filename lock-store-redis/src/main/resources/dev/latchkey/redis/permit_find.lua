-- Finds what a token holds. Writes nothing.
--@ takes clock, HOLDS, FOREIGN, read, seek
-- KEYS[1] who holds
-- ARGV    1 token
-- returns {0, us until its lease ends}; {} if it holds nothing

local raw = redis.call('GET', HOLDS)
if raw and string.sub(raw, 1, 2) ~= 'P1' then
  return redis.error_reply(FOREIGN)
end
local state = read(raw, clock())
local own = seek(state, ARGV[1])
return own and { 0, own.ends - state.at } or {}
