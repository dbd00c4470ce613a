-- The queue of a semaphore.
--@ takes QUEUE, BEATS, write, seek, forget, room, patience, last_until, grant, tell, look, deaf, award, fresh
--@ gives wake, hasten, serve

-- So many are looked at in one step at most. More are served in the next one.
local MOST_IN_A_STEP = 100
-- So many are granted in one pass, so that the server is not busy for long. The first of the rest is told to ask, which begins
-- the next pass.
local MOST_AT_ONCE = 500

-- A member of the queue as a table; nil if no waiter has added it.
local function waiter(member, ticket)
  local token, attempt, count, limit, ttl, poll, push =
    string.match(member or '', '^(%S+) (%S+) (%d+)/(%d+) (%d+) (%d+) ([012])$')
  return token and {
    token = token, attempt = attempt, count = tonumber(count), limit = tonumber(limit), ttl = ttl, poll = tonumber(poll),
    push = push, ticket = ticket
  }
end

local function first()
  return waiter(look('ZRANGE', QUEUE, 0, 0)[1])
end

-- Tells the first in the queue to ask.
local function wake()
  local head = first()
  if head then
    tell(head.attempt, head.push, '?')
  end
end

-- The first in the queue relies on what it was last told, or on its next poll. If a lease ends before that, it has to be told.
local function hasten(state)
  local left = patience(state)
  local head = left < 5000 and first()
  if head and left < head.poll then
    tell(head.attempt, head.push, '?')
  end
end

local function leave_out(state, member, attempt)
  redis.call('ZREM', QUEUE, member)
  if attempt and state.flag == '2' then
    look('HDEL', BEATS, attempt)
  end
end

-- Whether one for whom there is no room is dead, and blocks those behind it.
local function is_gone(state, head, has_followers)
  if not fresh(state, head.attempt, head.ticket, head.poll) then
    return true
  end
  local inbox = string.match(head.attempt, '^[^.]+')
  return has_followers and room(state, math.huge) > 0 and inbox ~= state.inbox and deaf(head.attempt, head.push)
end

-- Grants, from the head of the queue on, as many as a step allows, but tells nobody. Returns them with their members of the queue,
-- and whether there may be more to grant.
local function choose(state, caller)
  -- One more than there are permits, so that a dead one is found that blocks those behind it.
  local most = math.max(1, math.min(MOST_IN_A_STEP, room(state, math.huge))) + 1
  local chosen, found = {}, look('ZRANGE', QUEUE, 0, most - 1, 'WITHSCORES')
  if found.err then
    return chosen, false
  end
  for i = 1, #found, 2 do
    local head = waiter(found[i], found[i + 1])
    local is_held = head and seek(state, head.token)
    local fits = head and not is_held and head.count <= room(state, head.limit)
    local is_own = head and head.attempt == caller
    if fits and (is_own or fresh(state, head.attempt, head.ticket, head.poll)) then
      grant(state, head.token, head.attempt, '', head.count, head.limit, head.ttl)
      chosen[#chosen + 1] = { head = head, member = found[i] }
    elseif head and not is_held and not fits and (is_own or not is_gone(state, head, #found > i + 1)) then
      return chosen, false
    else
      -- Not of a waiter, or of a dead one, or another attempt of the same key was served, of which this one learns when it asks.
      if is_held then
        tell(head.attempt, head.push, '?')
      end
      leave_out(state, found[i], head and head.attempt)
    end
  end
  if #found < 2 * most then
    state.flag, state.changed = '0', true
  end
  return chosen, #found == 2 * most
end

-- Tells those who were chosen. One that does not listen is left out; one that polls has only an offer, until it asks.
local function announce(state, chosen, caller)
  for _, one in ipairs(chosen) do
    local head = one.head
    redis.call('ZREM', QUEUE, one.member)
    if state.has_beats then
      look('HDEL', BEATS, head.attempt)
    end
    local heard = head.attempt == caller or award(state, head.attempt, head.push, 's', head.ttl, 1)
    if heard == 0 then
      forget(state, head.token)
    elseif not heard then
      local offer = math.min(tonumber(head.ttl), 3 * head.poll + 1000)
      last_until(state, seek(state, head.token), state.at + 1000 * offer)
    end
  end
end

-- Grants what can be granted, from the head of the queue on, and removes dead waiters. The caller is not told. What somebody is
-- told is written before; what is left to write is marked in the state.
local function serve(state, caller)
  local granted = 0
  while state.flag ~= '0' do
    state.has_beats = state.flag == '2'
    local chosen, may_be_more = choose(state, caller)
    if #chosen > 0 and write(state) then
      -- There is no memory for that. They stay in the queue.
      for _, one in ipairs(chosen) do
        forget(state, one.head.token)
      end
      state.flag = state.has_beats and '2' or '1'
      return
    end
    local held = state.held
    announce(state, chosen, caller)
    granted = granted + #chosen
    if state.flag == '0' and state.has_beats then
      look('DEL', BEATS)
    end
    if granted >= MOST_AT_ONCE then
      return wake()
    end
    if not may_be_more and state.held == held then
      break
    end
  end
  if granted > 0 and state.flag ~= '0' then
    hasten(state)
  end
end
