-- Stands in front of every operation, behind clock.lua; only the short ways of two of them come before it, since defining
-- these functions takes longer than all that a free lock needs. All time is the server's, in microseconds, as text of 16
-- digits: such texts compare like the numbers.
--
-- KEYS[1]   the state of a resource, a string:
--             L1 <mode> <flag> ' ' <fence> { ' ' <token>:<start us>:<lease ms>:<attempt> }
--             mode   F nobody holds it, X exclusive, S shared
--             flag   0 nobody waits, 1 somebody may, 2 heartbeats are kept as well. May be too high, never too low
--             fence  the last fencing token
--             ^ behind an attempt: it promoted a shared hold
--           A hold that ended by its lease stays until the next grant: a late release is told whether another came between.
-- KEYS[1]:q the queue, a sorted set of '<token> <attempt> <want> <ttl ms> <poll ms> <push>' by ticket, the time of the
--           first request; a waiting promoter has ticket 1
--             want   x exclusive, s shared, p exclusive with the shared hold it has
--             push   0 it polls, 1 PUBLISH reaches it, 2 SPUBLISH does
-- KEYS[1]:h when a waiter was last heard of, a hash by attempt; kept from the first safety poll on

local STATE, QUEUE, BEATS = KEYS[1], KEYS[1] .. ':q', KEYS[1] .. ':h'
local QUEUE_TTL = 60000
local FOREIGN = 'FOREIGN the value of this key is not a lock'
-- The inbox of a caller that reads from its reply what its own waiters are granted; and that reply.
local CALLER, REPLY = nil, nil
-- Whether a waiter was told something: what it was told has to be written as well, so nothing may fail before that.
local TOLD = false

local function digits(number)
  return string.format('%.0f', number)
end

-- The state as a table: live and expired holders apart.
local function read(raw, at)
  local state = { at = at, mode = 'F', letter = 'F', flag = '0', live = {}, expired = {} }
  if raw then
    state.letter, state.flag, state.fence = string.sub(raw, 3, 3), string.sub(raw, 4, 4), string.sub(raw, 6, 21)
    for token, us, ms, attempt in string.gmatch(raw, ' ([^: ]+):(%d+):(%d+):([^ ]+)') do
      local hold = { token = token, us = us, ms = ms, attempt = attempt, ends = us + 1000 * ms }
      table.insert(hold.ends > tonumber(at) and state.live or state.expired, hold)
    end
    if #state.live > 0 then
      state.mode = state.letter
    end
  end
  return state
end

-- Writes the state, to be kept for the retention after the longest lease; without a retention its TTL stays.
local function write(state, retention)
  local text = { 'L1', 'F', state.flag, ' ', state.fence }
  local keep = state.flag == '0' and 0 or QUEUE_TTL
  for _, holds in ipairs({ state.live, state.expired }) do
    for _, hold in ipairs(holds) do
      text[2] = state.letter
      text[#text + 1] = ' ' .. hold.token .. ':' .. hold.us .. ':' .. hold.ms .. ':' .. hold.attempt
      keep = math.max(keep, math.ceil((hold.ends - state.at) / 1000) + (retention or 0))
    end
  end
  if retention then
    return redis.pcall('SET', STATE, table.concat(text), 'PX', digits(math.max(1, keep)))
  end
  return redis.pcall('SET', STATE, table.concat(text), 'KEEPTTL')
end

-- The live hold of a token, and how many others hold.
local function seek(state, token)
  for _, hold in ipairs(state.live) do
    if hold.token == token then
      return hold, #state.live - 1
    end
  end
  return nil, #state.live
end

-- Milliseconds until all live holds but one's own are over.
local function patience(state, own)
  local ends = 0
  for _, hold in ipairs(state.live) do
    if hold ~= own then
      ends = math.max(ends, hold.ends)
    end
  end
  return math.max(0, math.ceil((ends - state.at) / 1000))
end

-- Starts a lease now. Where a hold is to become more than it was it must not end sooner: its holder may not hear of it.
local function lease(state, hold, ms, longest)
  local ends = state.at + 1000 * ms
  if not (longest and hold.ends and hold.ends > ends) then
    hold.us, hold.ms, hold.ends = state.at, ms, ends
  end
end

-- The fencing token of a new hold. By the clock, so that it grows also if the server has lost its data.
local function fence(state, own, want)
  if state.fence and (want == 's' or (own and state.mode == 'X')) then
    return state.fence
  end
  local from = state.from or state.at
  if state.fence and state.fence >= from then
    return digits(state.fence + 1)
  end
  return from
end

-- Whether this would be a new exclusive hold, and no fencing token is left for it.
local function is_used_up(state, own, want)
  return want ~= 's' and state.fence and state.fence >= LAST_FENCE and not (own and state.mode == 'X')
end

local function grant(state, own, token, attempt, want, ms)
  local promotes = own and state.mode == 'S' and want ~= 's'
  state.fence = fence(state, own, want)
  if not own then
    own = { token = token }
    table.insert(state.live, own)
  end
  lease(state, own, ms, true)
  own.attempt = promotes and attempt .. '^' or attempt
  state.letter = want == 's' and 'S' or 'X'
  state.mode, state.expired, state.granted = state.letter, {}, true
end

-- Sends to a waiter and returns how many heard it; false when that cannot be told.
local function tell(attempt, push, message)
  local inbox = 'in:' .. string.match(attempt, '^[^.]+')
  local heard = false
  if push == '1' then
    heard = redis.pcall('PUBLISH', string.match(STATE, '^[^{]*') .. inbox, attempt .. ' ' .. message)
  elseif push == '2' then
    heard = redis.pcall('SPUBLISH', STATE .. ':' .. inbox, attempt .. ' ' .. message)
  end
  TOLD = TOLD or heard ~= 0
  return type(heard) == 'number' and heard
end

-- A command that fails on a cluster while the slot moves away, since what it is about is not there any more.
local function look(...)
  return (TOLD and redis.pcall or redis.call)(...)
end

-- Tells a waiter what it is granted, as tell does. SPUBLISH also reaches those who listen at a replica, without counting
-- them: they must not read of a grant that is none.
local function award(attempt, push, want, at, ttl, number)
  local inbox, its_number = string.match(attempt, '^([^.]+)%.(%d+)$')
  if inbox ~= CALLER then
    if push == '2' and tell(attempt, push, '.') == 0 then
      tell(attempt, push, '?')
      return 0
    end
    return tell(attempt, push, want .. ' ' .. at .. ' ' .. ttl .. ' ' .. number)
  end
  for _, value in ipairs({ its_number, at, ttl, number }) do
    table.insert(REPLY, tonumber(value))
  end
  return 1
end

-- Whether a waiter was heard of not too long ago, and its heartbeat if it has one.
local function fresh(state, attempt, ticket, poll)
  local beat = state.flag == '2' and look('HGET', BEATS, attempt)
  beat = type(beat) == 'string' and beat
  local heard = beat or ticket
  return tonumber(heard) == 1 or state.at - heard <= 3000 * poll + 1000000, beat
end

-- Grants what can be granted from the head of the queue on; who is dead is left out. The caller need not be told.
local function serve(state, caller)
  while state.flag ~= '0' and state.mode ~= 'X' do
    local free = #state.live == 0
    local head = free and look('ZPOPMIN', QUEUE) or look('ZRANGE', QUEUE, 0, 0, 'WITHSCORES')
    if head.err then
      return
    end
    if not head[1] then
      state.flag, state.changed = '0', true
      return
    end
    local token, attempt, want, ttl, poll, push =
      string.match(head[1], '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
    local own, others = seek(state, token)
    -- Who cannot be granted asks again, and is told why.
    local gone = (want == 'p' and not own) or is_used_up(state, own, want)
    if not gone and others > 0 and want ~= 's' then
      return
    end
    if not free then
      redis.call('ZREM', QUEUE, head[1])
    end
    local alive, beat = fresh(state, attempt, head[2], poll)
    if beat then
      redis.call('HDEL', BEATS, attempt)
    elseif state.flag == '2' and look('HLEN', BEATS) == 0 then
      state.flag, state.changed = '1', true
    end
    if gone then
      tell(attempt, push, '?')
    elseif attempt == caller then
      grant(state, own, token, attempt, want, ttl)
    elseif alive then
      local heard = award(attempt, push, want, state.at, ttl, fence(state, own, want))
      if not heard then
        -- It may not know: it has until its next poll to take what is only an offer until then.
        ttl = digits(math.min(ttl, 3 * poll + 1000))
      end
      if heard ~= 0 then
        grant(state, own, token, attempt, want, ttl)
      end
    end
  end
end

-- Why a hold that was claimed is not there: 1 expired, 2 taken over, 3 released elsewhere.
local function lost(state, own, others, claim)
  if own then
    return { -3, 3 }
  end
  if others > 0 or (tonumber(claim) and state.fence and state.fence > claim) then
    return { -3, 2 }
  end
  return { -3, #state.live + #state.expired == 0 and state.fence and state.fence == claim and 3 or 1 }
end

