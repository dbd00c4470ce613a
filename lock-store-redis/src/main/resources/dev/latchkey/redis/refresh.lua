-- Starts the lease of a live hold again. Its mode stays as it is.
--@ takes RAW, clock, FOREIGN, read, write, seek, lease, know, is_claimed, claim_token, keep, lost, wake
-- KEYS[1] the state
-- ARGV    1 token   2 TTL in ms   3 retention in ms
--         4 claim: the fencing token of an exclusive hold, - for a shared one, '' for whatever is held
--         5 change: e the lease never ends sooner than it would, s it may
--         6 k: the store keeps it between uses
-- returns the fencing token of an exclusive hold, 0 for a shared one     {-3, why}: it is not held

if RAW and string.sub(RAW, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end
local state = read(RAW, clock())
local own, others = seek(state, ARGV[1])
local claim = ARGV[4]
if not own or (tonumber(claim) and not (state.mode == 'X' and is_claimed(state, own, claim))) then
  return lost(state, own, others, claim, ARGV[1])
end

local ends = own.ends
lease(state, own, ARGV[2], ARGV[5] ~= 's')
claim_token(state, own, claim)
know(state, own, claim)
if ARGV[6] == 'k' then
  keep(state, own, state.mode == 'X' and 'x' or 's', ARGV[2])
end
local written = write(state, ARGV[3])
if written.err then
  return written
end
if own.ends < ends and state.flag ~= '0' then
  -- The first in the queue relies on the lease it was told of.
  wake()
end
return state.mode == 'X' and tonumber(state.fence) or 0
