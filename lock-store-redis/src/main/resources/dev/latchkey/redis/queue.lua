-- The queue of a resource.
--@ takes QUEUE, QUEUE_TTL, BEATS, KEPT, digits, seek, patience, fence, is_used_up, grant, tell, look, deaf, award, fresh, recall
--@ gives waiter, line_up, wake, look_up_the_queue, leave_out, hasten, serve

-- So many are granted in one pass, so that the server is not busy for long. The first of the rest is told to ask, which begins
-- the next pass.
local MOST_AT_ONCE = 500
-- The longest interval in which a waiter that is notified polls.
local LONGEST_POLL = 5000

-- A member of the queue as a table; nil if no waiter has added it.
local function waiter(member)
  local token, attempt, want, ttl, poll, push =
    string.match(member or '', '^(%S+) (%S+) ([xspkr]) (%d+) (%d+) ([012])$')
  local keeps = KEPT[want]
  return token
    and {
      token = token, attempt = attempt, want = keeps or want, keeps = keeps, ttl = ttl, poll = tonumber(poll), push = push,
      member = member
    }
end

-- Adds a waiter to the queue if it is not there, and notes that it was heard of now, unless its time of arrival says as much.
local function line_up(state, member, score, attempt, poll, came)
  redis.call('ZADD', QUEUE, 'NX', score, member)
  redis.call('PEXPIRE', QUEUE, QUEUE_TTL)
  local beats = came ~= '0' and state.at - came > 1000 * poll
  if beats then
    redis.call('HSET', BEATS, attempt, state.at)
    redis.call('PEXPIRE', BEATS, QUEUE_TTL)
  end
  local flag = beats and '2' or '1'
  if flag > state.flag then
    state.flag, state.changed = flag, true
  end
end

-- The first in the queue, which stays there.
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

-- Fails now rather than later if the queue cannot be read.
local function look_up_the_queue(state)
  if state.flag ~= '0' then
    redis.call('ZRANGE', QUEUE, 0, 0)
    if state.flag == '2' then
      redis.call('HLEN', BEATS)
    end
  end
end

-- Removes a waiter that is gone.
local function leave_out(head)
  redis.call('ZREM', QUEUE, head.member)
  look('HDEL', BEATS, head.attempt)
end

-- Begins the next pass: removes waiters that are gone, and tells the first of the others to ask.
local function pass_on()
  local head = first()
  while head and deaf(head.attempt, head.push) do
    leave_out(head)
    head = first()
  end
  wake()
end

-- The first in the queue relies on what it was last told, or on its next poll. If all leases end before that, it has to be told.
local function hasten(state)
  local left = patience(state)
  if left < LONGEST_POLL then
    local head = first()
    if head and left < head.poll then
      tell(head.attempt, head.push, '?')
    end
  end
end

-- Others wait already for what was granted to be kept.
local function recall_for_first(state)
  for _, hold in ipairs(state.live) do
    if hold.rest then
      local head = first()
      if head then
        recall(state, seek(state, head.token), head.want)
      end
      return
    end
  end
end

-- Whether the first in the queue can never be granted what it waits for: its shared hold is over, or no fencing token is left.
local function is_gone(state, own, head)
  return (head.want == 'p' and not own) or is_used_up(state, own, head.want)
end

-- Grants the first in the queue what it waits for, if it is still there.
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
    grant(state, own, head.token, head.attempt, head.want, ttl, head.keeps)
  elseif alive then
    local heard = award(state, head.attempt, head.push, head.want, ttl, fence(state, own, head.want))
    if not heard then
      -- It may not know. Until its next poll, this is only an offer.
      ttl = digits(math.min(ttl, 3 * head.poll + 1000))
    end
    if heard ~= 0 then
      grant(state, own, head.token, head.attempt, head.want, ttl, head.keeps)
    end
  end
end

-- Grants what can be granted, from the head of the queue on, and removes dead waiters. The caller is not told.
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
    -- A waiter that cannot be granted anything is told to ask, and learns why.
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
    recall_for_first(state)
  end
end
