-- The state of a resource. All time is the server's, in microseconds, as text of 16 digits: such texts compare like the numbers.
-- The short ways come before this file, because defining its functions takes longer than all that a free lock needs.
--@ takes LAST_FENCE
--@ gives STATE, QUEUE, QUEUE_TTL, BEATS, FOREIGN, KEPT, digits, read, write, write_released, seek, forget, patience, lease, fence
--@ gives rely, know, is_used_up, is_claimed, claim_token, keep, grant, turn_to, lost, is_forced
--
-- KEYS[1]   the state of a resource, a string:
--             L1 <mode> <flag> ' ' <fence> { ' ' <token>:<start us>:<lease ms>:<attempt>[:<who>[:<since us>[:<rest>:<recalled us>]]] }
--             mode   F nobody holds it, X exclusive, S shared
--             flag   0 nobody waits, 1 somebody may, 2 there are heartbeats too. May be too high, never too low
--             fence  the last fencing token
--             attempt  who may undo it by a cancel: 0 nobody, else the attempts that rely on it, all of them, as <one>+<other>
--             who      the inbox of the store that holds; if it is not there, the one that the first attempt names
--             since    when it was granted, if not at the start of the lease
--             rest     only of a hold that its store keeps between uses: how many fencing tokens after the last it may use
--             recalled when its store was first told that others ask for the resource; 0 if it was not
--             ^ after the attempts: they promoted a shared hold; and after that the attempts which rely on it, if it may be undone
--           An expired hold stays until the next grant, so that a late release learns whether another hold came between.
--           A token behind ! is that of the hold that was last ended by force, at the start of its lease of 0 ms.
-- KEYS[1]:q the queue, a sorted set of '<token> <attempt> <want> <ttl ms> <poll ms> <push>' by ticket, the time of the
--           first request; a waiting promoter has ticket 1
--             want   x exclusive, s shared, p exclusive with the shared hold it has; k as x and r as s, but to be kept
--             poll   the interval in which it asks by itself
--             push   0 it polls, 1 PUBLISH reaches it, 2 SPUBLISH does
-- KEYS[1]:h when a waiter was last heard of, a hash by attempt; kept from the first safety poll on

local STATE, QUEUE, BEATS = KEYS[1], KEYS[1] .. ':q', KEYS[1] .. ':h'
local QUEUE_TTL = 60000
-- How long it is remembered that a hold was ended by force, in microseconds.
local FORCED_TTL = 600000000
-- The length of the names of attempts from which on no more are noted, and none may undo the hold.
local LONGEST_ATTEMPTS = 100
-- So many fencing tokens at most are reserved for a hold that its store keeps: as many as its lease has microseconds.
local MOST_RESERVED = 65536
-- What a request is that wants to keep what it is granted.
local KEPT = { k = 'x', r = 's', K = 'X', R = 'S' }
local FOREIGN = 'FOREIGN the value of this key is not a lock'

local function digits(number)
  return string.format('%.0f', number)
end

-- The state as a table, with live and expired holds apart, and the live ones also by token.
local function read(raw, at)
  local state = { at = at, mode = 'F', letter = 'F', flag = '0', live = {}, expired = {}, by = {} }
  if raw then
    state.letter, state.flag, state.fence = string.sub(raw, 3, 3), string.sub(raw, 4, 4), string.sub(raw, 6, 21)
    for token, us, ms, attempt, who, since, rest, recalled in
      string.gmatch(raw, ' ([^: ]+):(%d+):(%d+):([^: ]+):?(%d*):?(%d*):?(%d*):?(%d*)')
    do
      local hold = { token = token, us = us, ms = ms, attempt = attempt, ends = us + 1000 * ms }
      hold.rest, hold.recalled = tonumber(rest), recalled
      hold.who = who ~= '' and who or string.match(attempt, '^(%d+)%.') or ''
      hold.since = since ~= '' and since or us
      if hold.ends > tonumber(at) then
        state.live[#state.live + 1], state.by[token] = hold, hold
      elseif string.sub(token, 1, 1) == '!' then
        state.forced = state.at - us < FORCED_TTL and hold or nil
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

-- Writes the state, and keeps it for the retention after the longest lease, and not for less than the queue. Without a retention,
-- its TTL stays.
local function write(state, retention)
  local text = { 'L1', 'F', state.flag, ' ', state.fence }
  local after = math.max(state.flag == '0' and 0 or QUEUE_TTL, retention or 0)
  local keep = after
  for _, holds in ipairs({ state.live, state.expired }) do
    for _, hold in ipairs(holds) do
      text[2] = state.letter
      text[#text + 1] = ' ' .. hold.token .. ':' .. hold.us .. ':' .. hold.ms .. ':' .. hold.attempt
      local has_since = hold.since ~= hold.us or hold.rest
      if has_since or hold.who ~= '' then
        text[#text + 1] = ':' .. hold.who .. (has_since and ':' .. hold.since or '')
      end
      if hold.rest then
        text[#text + 1] = ':' .. digits(hold.rest) .. ':' .. hold.recalled
      end
      keep = math.max(keep, math.ceil((hold.ends - state.at) / 1000) + after)
    end
  end
  if state.forced then
    text[#text + 1] = ' ' .. state.forced.token .. ':' .. state.forced.us .. ':0:0'
  end
  if retention then
    return redis.pcall('SET', STATE, table.concat(text), 'PX', digits(math.max(1, keep)))
  end
  return redis.pcall('SET', STATE, table.concat(text), 'KEEPTTL')
end

-- Writes the state after a hold was given up. That must be possible without memory too: if nobody holds the lock, the state is
-- deleted instead, and the next fencing token grows by the clock. Returns the error if that is no way out.
local function write_released(state, retention)
  local written = write(state, retention)
  if written.err and #state.live + #state.expired > 0 then
    return written
  end
  if written.err then
    redis.call('DEL', STATE)
  end
  return nil
end

-- The live hold of a token, and how many others hold.
local function seek(state, token)
  local own = state.by[token]
  return own, own and #state.live - 1 or #state.live
end

-- Grants no token again that a hold may have used whose end nobody reports.
local function use_up(state, hold)
  if hold.rest and hold.rest > 0 then
    state.fence, hold.rest = digits(state.fence + hold.rest), 0
  end
end

-- Whether an exclusive hold has the fencing token that its holder claims, or that is one of those it may use.
local function is_claimed(state, own, claim)
  return state.fence == claim or (own.rest and claim > state.fence and claim - state.fence <= own.rest)
end

-- The fencing token that is claimed is the last one now.
local function claim_token(state, own, claim)
  if own.rest and tonumber(claim) and state.mode == 'X' then
    own.rest, state.fence = own.rest - (claim - state.fence), claim
  end
end

-- Leaves fencing tokens to a hold that its store keeps. What was left before stays.
local function keep(state, own, want, ms)
  local more = want == 'x' and math.min(1000 * ms, MOST_RESERVED, LAST_FENCE - state.fence) or 0
  own.rest, own.recalled = math.max(own.rest or 0, more), own.rest and own.recalled or '0'
end

-- Removes whatever a token holds.
local function forget(state, token)
  for _, holds in ipairs({ state.live, state.expired }) do
    for i = #holds, 1, -1 do
      if holds[i].token == token then
        use_up(state, table.remove(holds, i))
      end
    end
  end
  state.by[token] = nil
  state.mode = #state.live == 0 and 'F' or state.mode
end

-- Milliseconds until all live holds except the own one are over.
local function patience(state, own)
  local ends = 0
  for _, hold in ipairs(state.live) do
    if hold ~= own then
      ends = math.max(ends, hold.ends)
    end
  end
  return math.max(0, math.ceil((ends - state.at) / 1000))
end

-- Starts a lease now. With longest, it never ends sooner than before: the holder may not learn of the change.
local function lease(state, hold, ms, longest)
  local ends = state.at + 1000 * ms
  if not (longest and hold.ends and hold.ends > ends) then
    hold.us, hold.ms, hold.ends = state.at, ms, ends
  end
end

-- The fencing token of a new hold. It follows the clock, so that it grows even if the server has lost its data.
local function fence(state, own, want)
  for _, hold in ipairs(state.expired) do
    use_up(state, hold)
  end
  if state.fence and (want == 's' or (own and state.mode == 'X')) then
    return state.fence
  end
  if own then
    use_up(state, own)
  end
  local from = state.from or state.at
  if state.fence and state.fence >= from then
    return digits(state.fence + 1)
  end
  return from
end

-- Notes that an attempt of the same key relies on the hold too: the cancel of one does not undo it, but that of all does.
local function rely(own, attempt)
  local attempts, promoted = string.match(own.attempt, '^([^%^]*)(.*)$')
  if attempt == '0' or attempts == '0' or #attempts > LONGEST_ATTEMPTS then
    own.attempt = '0'
  elseif not string.find('+' .. attempts .. '+', '+' .. attempt .. '+', 1, true) then
    own.attempt = attempts .. '+' .. attempt .. promoted
  end
end

-- Notes that somebody who claims this knows of the hold, so that no late cancel may undo it. Who claims a shared hold does not
-- know of its promotion.
local function know(state, own, claim)
  if claim ~= '-' or state.mode == 'S' then
    own.attempt = '0'
  else
    own.attempt = string.gsub(own.attempt, '%^.*', '^')
  end
end

-- Whether this would be a new exclusive hold, and no fencing token is left for it.
local function is_used_up(state, own, want)
  return want ~= 's' and state.fence and state.fence >= LAST_FENCE and not (own and state.mode == 'X')
end

-- Whether the hold of a token was ended by force, as far as that is remembered.
local function is_forced(state, token)
  return state.forced and state.forced.token == '!' .. token
end

local function grant(state, own, token, attempt, want, ms, keeps)
  local shared = own and state.mode == 'S' and want ~= 's' and attempt ~= '0' and own.attempt
  state.fence = fence(state, own, want)
  if not own then
    own = { token = token, attempt = attempt, since = state.at }
    own.who = string.match(attempt, '^(%d+)%.') or state.who or ''
    state.live[#state.live + 1], state.by[token] = own, own
    -- What ends this hold is another matter.
    state.forced = not is_forced(state, token) and state.forced or nil
  end
  lease(state, own, ms, true)
  rely(own, attempt)
  if shared then
    own.attempt = attempt .. '^' .. (shared == '0' and '' or shared)
  end
  if keeps then
    keep(state, own, want, ms)
  end
  state.letter = want == 's' and 'S' or 'X'
  state.mode, state.expired, state.granted = state.letter, {}, true
end

-- For scripts about many resources: selects the one that the functions work on.
local function turn_to(key)
  STATE, QUEUE, BEATS = key, key .. ':q', key .. ':h'
end

-- Why a claimed hold is not there: 1 expired, 2 taken over, 3 released elsewhere, 4 ended by force.
local function lost(state, own, others, claim, token)
  if own then
    return { -3, 3 }
  end
  if is_forced(state, token) then
    return { -3, 4 }
  end
  if others > 0 or (tonumber(claim) and state.fence and state.fence > claim) then
    return { -3, 2 }
  end
  return { -3, #state.live + #state.expired == 0 and state.fence and state.fence == claim and 3 or 1 }
end
