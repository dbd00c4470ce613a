-- The messages to waiters, of locks and of semaphores, and whether a waiter still lives.
--@ takes STATE, BEATS
--@ gives tell, look, deaf, award, fresh, recall

-- Whether a waiter was told something. That has to be written as well, so nothing may fail before.
local TOLD = false
-- How long a store may take to give up what it keeps, in microseconds; after that, it is taken to use it.
local RECALL_TIME = 50000

-- The channel for messages to a waiter.
local function channel(attempt, push)
  local inbox = 'in:' .. string.match(attempt, '^[^.]+')
  return push == '1' and string.match(STATE, '^[^{]*') .. inbox or STATE .. ':' .. inbox
end

-- Sends a message to a waiter and returns how many received it; false if that is not known.
local function tell(attempt, push, message)
  local heard = false
  if push ~= '0' then
    heard = redis.pcall(push == '1' and 'PUBLISH' or 'SPUBLISH', channel(attempt, push), attempt .. ' ' .. message)
  end
  TOLD = TOLD or heard ~= 0
  return type(heard) == 'number' and heard
end

-- Runs a command that may fail on a cluster while the slot moves away, because its key is not there any more.
local function look(...)
  return (TOLD and redis.pcall or redis.call)(...)
end

-- How many subscribers a waiter has at this server; false if that is not known. Without permission to ask, an empty message has to
-- do, which also counts subscribers to patterns.
local function reach(attempt, push)
  local found = push == '1' and redis.pcall('PUBSUB', 'NUMSUB', channel(attempt, push))
  return found and found[2] or tell(attempt, push, '.')
end

-- Whether a waiter must be left out because it does not listen at this server. It may listen at a replica, which may have been the
-- master; then the message tells it to ask.
local function deaf(attempt, push)
  local gone = reach(attempt, push) == 0
  if gone then
    tell(attempt, push, '?')
  end
  return gone
end

-- Tells a waiter what it is granted; returns what tell does. A published message also reaches a waiter that listens at a replica,
-- without counting it, and that waiter must not read of a grant.
local function award(state, attempt, push, want, ttl, number)
  local inbox, its_number = string.match(attempt, '^([^.]+)%.(%d+)$')
  if inbox ~= state.inbox then
    if deaf(attempt, push) then
      return 0
    end
    return tell(attempt, push, want .. ' ' .. state.at .. ' ' .. ttl .. ' ' .. number)
  end
  for _, value in ipairs({ its_number, state.at, ttl, number }) do
    table.insert(state.reply, tonumber(value))
  end
  return 1
end

-- Whether a waiter was heard of recently, and its heartbeat if it has one.
local function fresh(state, attempt, ticket, poll)
  local beat = state.flag == '2' and look('HGET', BEATS, attempt)
  beat = type(beat) == 'string' and beat
  local heard = beat or ticket
  return tonumber(heard) == 1 or state.at - heard <= 3000 * poll + 1000000, beat
end

-- Tells the stores that keep the resource from a request that it is asked for, again and again: a message may be lost. Returns whether
-- they all may give it up at once: they have not had the time to. Whether they listen is not known on a cluster.
local function recall(state, own, want)
  local may_end, is_used = false, false
  for _, hold in ipairs(state.live) do
    if hold ~= own and (want ~= 's' or state.mode == 'X') then
      local heard = hold.rest and hold.who ~= '' and tell(hold.who .. '.0', '1', '~ ' .. STATE)
      if heard and hold.recalled == '0' then
        hold.recalled, state.changed = state.at, true
      end
      if heard and state.at - hold.recalled < RECALL_TIME then
        may_end = true
      else
        is_used = true
      end
    end
  end
  return may_end and not is_used
end
