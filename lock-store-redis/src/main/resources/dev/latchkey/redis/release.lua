-- Gives up whatever a token holds, and grants the lock to the next waiters.
--@ takes RAW, clock, QUEUE, BEATS, FOREIGN, read, write, write_released, seek, forget, patience, is_used_up, is_claimed, grant
--@ takes award, waiter, line_up, serve
-- KEYS[1] the state
-- ARGV    1 token   3 retention in ms
--         2 the fencing token of an exclusive hold, for the short way; with a - before it, not for that; or ''
--         4 only from those who know that others wait: their inbox, the attempts of which are '<inbox>.<number>'
--         5 only with 6: the next waiter of that inbox, as a member of the queue, in which it is not yet
--         6 when it came, a time of 16 digits; or 0, for now
-- returns 0: it was not ours     1: it was, and nobody else has had it since     -1: it was ended by force
--         {1, number, now, ttl ms, fencing token, ...}: the same, and what waiters of that inbox were granted
--           {number, now, ms until the holders' leases end, 0}: that one is in the queue

local token, raw = ARGV[1], RAW
if not raw then
  return 0
end
if string.sub(raw, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end
if not string.find(raw, ' ' .. token .. ':', 1, true) then
  return string.find(raw, ' !' .. token .. ':', 1, true) and -1 or 0
end

local state = read(raw, clock())
state.inbox, state.reply = ARGV[4], { 1 }
local coming = waiter(ARGV[5])
local came = ARGV[6]
if not came or came == '0' or came > state.at then
  came = state.at
end

-- Whether the one that comes can have the lock at once, because nobody holds it and nobody is in the queue.
local function is_alone()
  if state.flag ~= '0' and #state.live == 0 and not redis.call('ZRANGE', QUEUE, 0, 0)[1] then
    if state.flag == '2' then
      redis.call('DEL', BEATS)
    end
    state.flag = '0'
  end
  return state.flag == '0' and #state.live == 0
end

-- Takes back what was granted to the one that comes: it could not be written.
local function take_back()
  forget(state, coming.token)
  state.reply, state.granted = { 1 }, nil
end

-- A store that keeps a hold reports the last token it has used; no other was.
local own, used = seek(state, token), string.match(ARGV[2], '%d+')
if own and own.rest and state.mode == 'X' and used and is_claimed(state, own, used) then
  state.fence, own.rest = used, 0
end
forget(state, token)
if coming and is_used_up(state, seek(state, coming.token), coming.want) then
  -- It learns that when it asks.
  coming = nil
end
if coming and is_alone() then
  grant(state, nil, coming.token, coming.attempt, coming.want, coming.ttl)
  award(state, coming.attempt, coming.push, coming.want, coming.ttl, state.fence)
  if not write(state, ARGV[3]).err then
    return state.reply
  end
  take_back()
elseif coming and not pcall(line_up, state, coming.member, came, coming.attempt, coming.poll, came) then
  coming = nil
end
serve(state)
if coming and not state.by[coming.token] and state.flag ~= '0' then
  award(state, coming.attempt, coming.push, coming.want, patience(state), '0')
end
return write_released(state, state.granted and ARGV[3]) or state.reply
