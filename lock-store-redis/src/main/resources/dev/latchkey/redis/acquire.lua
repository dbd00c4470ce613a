-- Acquires, renews, promotes or demotes; or waits for it, and then asks again with the ticket it was given.
--@ takes RAW, NOW, LEAST_FENCE, USED_UP, QUEUE, BEATS, FOREIGN, KEPT
--@ takes read, write, seek, patience, lease, rely, know, is_used_up, is_claimed, claim_token, keep, grant, lost
--@ takes waiter, line_up, fresh, deaf, recall, wake, leave_out, serve
-- KEYS[1] the state
-- ARGV    1 token   2 TTL in ms   3 TTL + retention in ms   4 attempt: a name for this call, <inbox>.<number>; 0:<inbox> if it
--           does not wait
--         5 want: x exclusive, s shared; X or S if the caller claims to hold it already; k, r, K or R for the same if the store
--           keeps it between uses
--           after an x without a claim and a wait: 16 digits, a proposed fencing token, which is used like the time if it is
--           ahead of the time by a second at most
--         6 only with a claim or a wait, or to set a lease: '<claim> <poll ms> <ticket> <push> <change>'
--           claim  the fencing token of an exclusive hold, - for a shared one or none
--           poll   how often it asks again; 0: it does not wait
--           ticket as it was answered; 0 at first. push: as in the queue
--           change e: the lease of what is held already never ends sooner; s: it may
--         7 only if it is in the queue with another poll and push: those
-- returns a positive integer: held, the last fencing token
--         {fencing token, 1}: held, and still exclusively. Only a claim of that token demotes, because any other request may be a
--           late copy from before a promotion
--         {0, ticket, now, rank or -1, ms until the holders' leases end}: waits; a shared hold is as it was
--         {-1, ms}: a conflict; nothing has changed
--         {-1, ms, 1}: the same, and whoever keeps it was asked a moment ago to give it up
--         {-2}: another promoter waits already     {-3, why}: claim is not true

if RAW and string.sub(RAW, 1, 2) ~= 'L1' then
  return redis.error_reply(FOREIGN)
end

local token, ttl, want = ARGV[1], ARGV[2], string.sub(ARGV[5], 1, 1)
local attempt, who = string.match(ARGV[4], '^([^:]+):?(%d*)$')
local state = read(RAW, NOW)
state.from, state.who = LEAST_FENCE, who
local own, others = seek(state, token)
local claim, poll, ticket, push, change = string.match(ARGV[6] or '- 0 0 0 e', '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
local retention = ARGV[3] - ttl
local letter = want
local keeps = KEPT[want]
want = keeps or want
local claimed = want == 'X' or want == 'S'
want = string.lower(want)
-- A demotion whose answer was lost finds the shared hold that it has made.
local is_true = own and (claim == '-' or (is_claimed(state, own, claim) and (state.mode == 'X' or want == 's')))
if claimed and not is_true then
  return lost(state, own, others, claim, token)
end

if is_used_up(state, own, want) then
  return redis.error_reply(USED_UP)
end

local waits = poll ~= '0'
local stem = table.concat({ token, attempt, claimed and 'p' or letter, ttl, '' }, ' ')
local member = stem .. poll .. ' ' .. push
if ARGV[7] then
  redis.call('ZREM', QUEUE, stem .. ARGV[7])
end

local function settle(answer)
  local written = write(state, retention)
  return written.err and written or answer
end

local function unqueue()
  if waits and (state.flag ~= '0' or ticket ~= '0') then
    redis.call('ZREM', QUEUE, member)
    if ticket ~= '0' or state.flag == '2' then
      redis.call('HDEL', BEATS, attempt)
    end
  end
end

-- Renews what the key holds. If another attempt of it was granted that, this one relies on it too.
local function renew(may_shorten)
  local ends = own.ends
  lease(state, own, ttl, not may_shorten)
  rely(own, attempt)
  if keeps then
    keep(state, own, state.mode == 'X' and 'x' or 's', ttl)
  end
  if own.ends < ends and state.flag ~= '0' then
    wake()
  end
end

local function enqueue(score)
  line_up(state, member, score, attempt, poll, ticket)
  return ticket == '0' and -1 or redis.call('ZRANK', QUEUE, member)
end

-- Refuses, and has those told who only keep what stands in the way.
local function refused()
  local wait = patience(state, own)
  local may_end = recall(state, own, want)
  if state.granted then
    settle()
  elseif state.changed then
    write(state)
  end
  return may_end and { -1, wait, 1 } or { -1, wait }
end

local function queued(rank)
  return { 0, tonumber(ticket == '0' and NOW or ticket), tonumber(NOW), rank, patience(state, own) }
end

-- Removes waiters at the head that are gone, so that they do not block the others.
local function skip_the_dead(blocks)
  local found = redis.call('ZRANGE', QUEUE, 0, 0, 'WITHSCORES')
  while found[1] and found[1] ~= member do
    local head = waiter(found[1])
    if not head then
      redis.call('ZREM', QUEUE, found[1])
    elseif head.token == token or not blocks(found[2], head.want) then
      return false
    else
      local there = head.want ~= 'p' or seek(state, head.token)
      if there and fresh(state, head.attempt, found[2], head.poll) and not deaf(head.attempt, head.push) then
        return true
      end
      leave_out(head)
    end
    found = redis.call('ZRANGE', QUEUE, 0, 0, 'WITHSCORES')
  end
  return false
end

if claimed then
  claim_token(state, own, claim)
  know(state, own, claim)
end

if own and (state.mode == 'X' or want == 's') then
  unqueue()
  -- It may be a promotion whose answer was lost. Then its holder still believes in the shared hold.
  local repeated = want == 'x' and claimed and claim == '-'
  renew(change == 's' and not waits and not repeated)
  if state.mode == 'X' and want == 's' then
    if claim ~= state.fence then
      return settle({ tonumber(state.fence), 1 })
    end
    state.mode, state.letter = 'S', 'S'
    serve(state)
  end
  return settle(tonumber(state.fence))
end

if own then
  if others == 0 then
    unqueue()
    grant(state, own, token, attempt, want, ttl)
    return settle(tonumber(state.fence))
  end
  if not waits then
    return refused()
  end
  if skip_the_dead(function(score) return score == '1' end) then
    return { -2 }
  end
  local rank = enqueue(1)
  lease(state, own, ttl, true)
  recall(state, own, want)
  return settle(queued(rank))
end

local function fits()
  return #state.live == 0 or (want == 's' and state.mode == 'S')
end

if not waits then
  if fits() then
    serve(state)
    if state.flag == '0' and fits() then
      grant(state, nil, token, attempt, want, ttl, keeps)
      return settle(tonumber(state.fence))
    end
  end
  return refused()
end

-- Whoever has a ticket may be in the queue, with others before it, although the flag was lost with the state. Whoever has none
-- and comes here without a state has found a queue.
if ticket == '0' and RAW and state.flag == '0' and fits() then
  grant(state, nil, token, attempt, want, ttl, keeps)
  return settle(tonumber(state.fence))
end
local rank = enqueue(ticket == '0' and NOW or ticket)
if state.mode ~= 'X' then
  if ticket ~= '0' and want == 's' and state.mode == 'S' then
    skip_the_dead(function(_, its_want) return its_want == 'x' end)
  end
  serve(state, attempt)
end
own = seek(state, token)
-- A shared hold of another attempt of the key is not what a writer waits for: it is promoted when it asks again.
if own and (state.mode == 'X' or want == 's') then
  if own.attempt ~= attempt then
    -- Another attempt of the same key was served, for its own TTL. This one must not be served again.
    unqueue()
    renew()
  end
  return settle(tonumber(state.fence))
end
recall(state, own, want)
if state.changed or state.granted then
  return settle(queued(rank))
end
return queued(rank)
