-- Acquires permits, or renews the lease of those that the token holds; or waits for them, and then asks again with the ticket it was
-- given.
--@ takes RAW, NOW, QUEUE, BEATS, QUEUE_TTL, FOREIGN, read, write, seek, room, patience, extend, know, grant, wake, serve
-- KEYS[1] who holds
-- ARGV    1 token   2 TTL in ms   3 attempt: a name for this call, <inbox>.<number>; 0:<inbox> if it does not wait
--         4 '<permits>/<N>'
--         5 '<claim> <change> <poll ms> <ticket> <push>'
--           claim  1 if the caller claims to hold the permits already, else 0
--           change e: the lease of what is held already never ends sooner; s: it may
--           poll   how often it asks again; 0: it does not wait
--           ticket as it was answered; 0 at first. push: as in the queue
--         6 only if it is in the queue with another poll and push: those
-- returns 1: held
--         {0, ticket, now, rank or -1, ms until a lease ends}: waits     {-1, ms}: not enough are free     {-3, 1}: claim is not true

if RAW and string.sub(RAW, 1, 2) ~= 'P1' then
  return redis.error_reply(FOREIGN)
end

local token, ttl = ARGV[1], ARGV[2]
local attempt, who = string.match(ARGV[3], '^([^:]+):?(%d*)$')
local count, limit = string.match(ARGV[4], '^(%d+)/(%d+)$')
local claim, change, poll, ticket, push = string.match(ARGV[5], '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
local state = read(RAW, NOW)
local waits = poll ~= '0'
local stem = table.concat({ token, attempt, ARGV[4], ttl, '' }, ' ')
local member = stem .. poll .. ' ' .. push
if ARGV[6] then
  redis.call('ZREM', QUEUE, stem .. ARGV[6])
end

local function settle(answer)
  return state.changed and write(state) or answer
end

local own = seek(state, token)
if own then
  if waits then
    redis.call('ZREM', QUEUE, member)
    redis.call('HDEL', BEATS, attempt)
  end
  if own.attempt ~= attempt then
    -- Another attempt of the same key was granted that.
    know(state, own)
  end
  if extend(state, own, ttl, change) and state.flag ~= '0' then
    wake()
  end
  return settle(1)
end
if claim == '1' then
  return settle({ -3, 1 })
end

local function enqueue()
  redis.call('ZADD', QUEUE, 'NX', ticket == '0' and NOW or ticket, member)
  redis.call('PEXPIRE', QUEUE, QUEUE_TTL)
  local flag, rank = '1', -1
  if ticket ~= '0' then
    rank = redis.call('ZRANK', QUEUE, member)
    redis.call('HSET', BEATS, attempt, NOW)
    redis.call('PEXPIRE', BEATS, QUEUE_TTL)
    flag = '2'
  end
  if flag > state.flag then
    state.flag, state.changed = flag, true
  end
  return rank
end

-- Whoever has a ticket may be in the queue, with others before it, although the flag was lost with the state.
if waits and (ticket ~= '0' or state.flag ~= '0' or not RAW or tonumber(count) > room(state, tonumber(limit))) then
  local rank = enqueue()
  if room(state, tonumber(limit)) > 0 then
    serve(state, attempt)
  end
  local is_held = seek(state, token)
  return settle(is_held and 1 or { 0, tonumber(ticket == '0' and NOW or ticket), tonumber(NOW), rank, patience(state) })
end

if not waits then
  serve(state)
end
if state.flag == '0' and tonumber(count) <= room(state, tonumber(limit)) then
  grant(state, token, attempt, who, count, limit, ttl)
  return settle(1)
end
return settle({ -1, patience(state) })
