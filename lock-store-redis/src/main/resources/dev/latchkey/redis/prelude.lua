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
--             poll   how often it asks by itself
--             push   0 it polls, 1 PUBLISH reaches it, 2 SPUBLISH does
-- KEYS[1]:h when a waiter was last heard of, a hash by attempt; kept from the first safety poll on

local STATE, QUEUE, BEATS = KEYS[1], KEYS[1] .. ':q', KEYS[1] .. ':h'
local QUEUE_TTL = 60000
-- So many are granted in one pass, so that the server is not kept busy; the first of the rest is told to ask, and is the next pass.
local MOST_AT_ONCE = 500
-- Nobody who is sent messages looks less often than that.
local LONGEST_POLL = 5000
local FOREIGN = 'FOREIGN the value of this key is not a lock'
-- The inbox of a caller that reads from its reply what its own waiters are granted; and that reply.
local CALLER, REPLY = nil, nil
-- Whether a waiter was told something: what it was told has to be written as well, so nothing may fail before that.
local TOLD = false

local function digits(number)
  return string.format('%.0f', number)
end

-- The state as a table: live and expired holders apart, the live ones by token as well.
local function read(raw, at)
  local state = { at = at, mode = 'F', letter = 'F', flag = '0', live = {}, expired = {}, by = {} }
  if raw then
    state.letter, state.flag, state.fence = string.sub(raw, 3, 3), string.sub(raw, 4, 4), string.sub(raw, 6, 21)
    for token, us, ms, attempt in string.gmatch(raw, ' ([^: ]+):(%d+):(%d+):([^ ]+)') do
      local hold = { token = token, us = us, ms = ms, attempt = attempt, ends = us + 1000 * ms }
      if hold.ends > tonumber(at) then
        state.live[#state.live + 1], state.by[token] = hold, hold
      else
        state.expired[#state.expired + 1] = hold
      end
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
  local keep = math.max(state.flag == '0' and 0 or QUEUE_TTL, retention or 0)
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
  local own = state.by[token]
  return own, own and #state.live - 1 or #state.live
end

-- Takes away whatever a token holds.
local function forget(state, token)
  for _, holds in ipairs({ state.live, state.expired }) do
    for i = #holds, 1, -1 do
      if holds[i].token == token then
        table.remove(holds, i)
      end
    end
  end
  state.by[token] = nil
  state.mode = #state.live == 0 and 'F' or state.mode
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

-- Once another attempt of the same key relies on a hold as well, the cancel of neither may undo it.
local function rely(own, attempt)
  if own.attempt ~= attempt and own.attempt ~= attempt .. '^' then
    own.attempt = '0'
  end
end

-- Whether this would be a new exclusive hold, and no fencing token is left for it.
local function is_used_up(state, own, want)
  return want ~= 's' and state.fence and state.fence >= LAST_FENCE and not (own and state.mode == 'X')
end

local function grant(state, own, token, attempt, want, ms)
  local promotes = own and state.mode == 'S' and want ~= 's'
  state.fence = fence(state, own, want)
  if not own then
    own = { token = token, attempt = attempt }
    state.live[#state.live + 1], state.by[token] = own, own
  end
  lease(state, own, ms, true)
  rely(own, attempt)
  if promotes then
    own.attempt = attempt .. '^'
  end
  state.letter = want == 's' and 'S' or 'X'
  state.mode, state.expired, state.granted = state.letter, {}, true
end

-- Where messages to a waiter go.
local function channel(attempt, push)
  local inbox = 'in:' .. string.match(attempt, '^[^.]+')
  return push == '1' and string.match(STATE, '^[^{]*') .. inbox or STATE .. ':' .. inbox
end

-- Sends to a waiter and returns how many heard it; false when that cannot be told.
local function tell(attempt, push, message)
  local heard = false
  if push ~= '0' then
    heard = redis.pcall(push == '1' and 'PUBLISH' or 'SPUBLISH', channel(attempt, push), attempt .. ' ' .. message)
  end
  TOLD = TOLD or heard ~= 0
  return type(heard) == 'number' and heard
end

-- A command that fails on a cluster while the slot moves away, since what it is about is not there any more.
local function look(...)
  return (TOLD and redis.pcall or redis.call)(...)
end

-- How many listen for a waiter at this server; false when that cannot be told. PUBLISH counts those as well who have subscribed
-- to a pattern, and only has to do where one may not ask.
local function reach(attempt, push)
  local found = push == '1' and redis.pcall('PUBSUB', 'NUMSUB', channel(attempt, push))
  return found and found[2] or tell(attempt, push, '.')
end

-- Whether a waiter must be left out, since it does not listen here. It may do so at a replica, or at a server that was the master
-- and has become one: then it hears that it should ask.
local function deaf(attempt, push)
  local gone = reach(attempt, push) == 0
  if gone then
    tell(attempt, push, '?')
  end
  return gone
end

-- Tells a waiter what it is granted, as tell does. What is published also reaches those who listen at a replica, without counting
-- them: they must not read of a grant that is none.
local function award(attempt, push, want, at, ttl, number)
  local inbox, its_number = string.match(attempt, '^([^.]+)%.(%d+)$')
  if inbox ~= CALLER then
    if deaf(attempt, push) then
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

-- What stands in the queue, as a table; nil for what no waiter has put there.
local function waiter(member)
  local token, attempt, want, ttl, poll, push =
    string.match(member or '', '^(%S+) (%S+) ([xsp]) (%d+) (%d+) ([012])$')
  return token
    and { token = token, attempt = attempt, want = want, ttl = ttl, poll = tonumber(poll), push = push, member = member }
end

-- The first in line, without taking it out.
local function first()
  return waiter(look('ZRANGE', QUEUE, 0, 0)[1])
end

-- Has the first in line ask, and returns how many heard it.
local function wake()
  local head = first()
  return head and tell(head.attempt, head.push, '?')
end

-- For scripts about many resources: which of them it is about now.
local function turn_to(key)
  STATE, QUEUE, BEATS = key, key .. ':q', key .. ':h'
end

-- Fails now rather than later if those who wait cannot be read.
local function look_up_the_queue(state)
  if state.flag ~= '0' then
    redis.call('ZRANGE', QUEUE, 0, 0)
    if state.flag == '2' then
      redis.call('HLEN', BEATS)
    end
  end
end

-- Takes one out of the queue who is not there any more.
local function leave_out(head)
  redis.call('ZREM', QUEUE, head.member)
  look('HDEL', BEATS, head.attempt)
end

-- Has the next pass begin: whoever is first asks, and those who are gone make way.
local function pass_on()
  local head = first()
  while head and deaf(head.attempt, head.push) do
    leave_out(head)
    head = first()
  end
  wake()
end

-- The first in line counts on what it was last told, or on the look that is due next. If all leases can be over before that, it
-- has to be told.
local function hasten(state)
  local left = patience(state)
  if left < LONGEST_POLL then
    local head = first()
    if head and left < head.poll then
      tell(head.attempt, head.push, '?')
    end
  end
end

-- Whether the first in line can never be granted what it waits for: its shared hold is over, or no fencing token is left.
local function is_gone(state, own, head)
  return (head.want == 'p' and not own) or is_used_up(state, own, head.want)
end

-- Grants the first in line what it waits for, if it is there.
local function serve_one(state, caller, head, ticket)
  local own = seek(state, head.token)
  local alive, beat = fresh(state, head.attempt, ticket, head.poll)
  if beat then
    redis.call('HDEL', BEATS, head.attempt)
  elseif state.flag == '2' and look('HLEN', BEATS) == 0 then
    state.flag, state.changed = '1', true
  end
  local ttl = head.ttl
  if is_gone(state, own, head) then
    tell(head.attempt, head.push, '?')
  elseif head.attempt == caller then
    grant(state, own, head.token, head.attempt, head.want, ttl)
  elseif alive then
    local heard = award(head.attempt, head.push, head.want, state.at, ttl, fence(state, own, head.want))
    if not heard then
      -- It may not know: it has until its next poll to take what is only an offer until then.
      ttl = digits(math.min(ttl, 3 * head.poll + 1000))
    end
    if heard ~= 0 then
      grant(state, own, head.token, head.attempt, head.want, ttl)
    end
  end
end

-- Grants what can be granted from the head of the queue on; who is dead is left out. The caller need not be told.
local function serve(state, caller)
  local before = #state.live
  while state.flag ~= '0' and state.mode ~= 'X' do
    if #state.live - before >= MOST_AT_ONCE then
      return pass_on()
    end
    local free = #state.live == 0
    local found = free and look('ZPOPMIN', QUEUE) or look('ZRANGE', QUEUE, 0, 0, 'WITHSCORES')
    if found.err then
      return
    end
    if not found[1] then
      if state.flag == '2' then
        look('DEL', BEATS)
      end
      state.flag, state.changed = '0', true
      return
    end
    local head = waiter(found[1])
    local own, others = seek(state, head and head.token)
    -- Who cannot be granted asks again, and is told why.
    if head and not is_gone(state, own, head) and others > 0 and head.want ~= 's' then
      break
    end
    if not free then
      redis.call('ZREM', QUEUE, found[1])
    end
    if head then
      serve_one(state, caller, head, found[2])
    end
  end
  if state.granted and state.flag ~= '0' then
    hasten(state)
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

