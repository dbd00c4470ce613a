-- Acquires, renews, promotes or demotes many resources, or none of them. It does not wait, and overtakes no waiter.
--@ takes clock, USED_UP, FOREIGN, read, write, seek, patience, lease, is_used_up, grant, turn_to, lost, wake, look_up_the_queue
--@ takes serve, recall, is_claimed, claim_token
-- KEYS    their states; KEYS[i]:i is '<exclusive index> <shared index>' of the last changes of one
-- ARGV    1 '<retention in ms> <the inbox of the store>'
--         2 check: '-' none; else '<rule> <known index>', rule 2 both indexes, rule 1 the exclusive one alone
--         2 + i '<token> <want> <TTL in ms> <claim> <change>' of KEYS[i], each as for acquire
-- returns {1, the last fencing token of each}; negative for one that was to be shared and is exclusive still, since the request
--           did not claim that token: see acquire
--         {-1, ms, recalled, i ...}: others hold or wait for these; recalled is 1 if they all were asked a moment ago to give up what
--           they may only keep, else 0
--         {-3, i, why ...}: the claims of these are not true
--         {-4, i, index ...}: these were changed since, and what has to be known
--         But for the first, nothing has changed, save that some who waited were served.

local at, entries = clock(), {}
local retention, who = string.match(ARGV[1], '^(%d+) (%d+)$')

-- All is read, and found to be readable, before anybody is served: after an error in between somebody would have been told of a
-- grant that is not written.
local rule, known = string.match(ARGV[2], '^(%S+) (%S+)$')
for i, key in ipairs(KEYS) do
  turn_to(key)
  local raw = redis.call('GET', key)
  if raw and string.sub(raw, 1, 2) ~= 'L1' then
    return redis.error_reply(FOREIGN)
  end
  local token, want, ttl, claim, change = string.match(ARGV[2 + i], '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
  local state = read(raw, at)
  state.who = who
  look_up_the_queue(state)
  if is_used_up(state, seek(state, token), string.lower(want)) then
    return redis.error_reply(USED_UP)
  end
  local exclusive, shared = string.match(rule and redis.call('GET', key .. ':i') or '0 0', '^(%d+) (%d+)$')
  if not exclusive then
    return redis.error_reply(FOREIGN)
  end
  entries[i] = {
    state = state, token = token, want = want, ttl = ttl, claim = claim, change = change,
    exclusive = tonumber(exclusive), shared = tonumber(shared)
  }
end

local function fits(entry)
  return #entry.state.live == 0 or (entry.want == 's' and entry.state.mode == 'S')
end

local function judge(entry)
  local state = entry.state
  local own, others = seek(state, entry.token)
  entry.claimed = entry.want == 'X' or entry.want == 'S'
  entry.want = string.lower(entry.want)
  local is_true = own
    and (entry.claim == '-' or (is_claimed(state, own, entry.claim) and (state.mode == 'X' or entry.want == 's')))
  if entry.claimed and not is_true then
    entry.why = lost(state, own, others, entry.claim, entry.token)[2]
  elseif own then
    entry.blocked = state.mode == 'S' and entry.want == 'x' and others > 0
  else
    if fits(entry) then
      serve(state)
    end
    entry.blocked = state.flag ~= '0' or not fits(entry)
  end
end

local gone, blocked, wait, may_end = { -3 }, { -1, 0, 0 }, 0, true
for i, entry in ipairs(entries) do
  turn_to(KEYS[i])
  judge(entry)
  if entry.why then
    gone[#gone + 1], gone[#gone + 2] = i, entry.why
  elseif entry.blocked then
    blocked[#blocked + 1] = i
    may_end = recall(entry.state, seek(entry.state, entry.token), entry.want) and may_end
    wait = math.max(wait, patience(entry.state, seek(entry.state, entry.token)))
  end
end
blocked[2], blocked[3] = wait, may_end and 1 or 0

local function stale()
  local found = { -4 }
  for i, entry in ipairs(entries) do
    local required = 0
    if entry.want == 'x' then
      required = rule == '2' and math.max(entry.exclusive, entry.shared) or entry.exclusive
    elseif rule == '2' then
      required = entry.exclusive
    end
    if rule and required > tonumber(known) then
      found[#found + 1], found[#found + 2] = i, required
    end
  end
  return found
end

local refusal = #gone > 1 and gone or #blocked > 3 and blocked or nil
if not refusal then
  local found = stale()
  refusal = #found > 1 and found or nil
end

-- Returns what is answered of it.
local function take(entry)
  local state = entry.state
  local own = seek(state, entry.token)
  if not own or (state.mode == 'S' and entry.want == 'x') then
    grant(state, own, entry.token, '0', entry.want, entry.ttl)
    return tonumber(state.fence)
  end
  -- It may be a promotion whose answer was lost: its holder still believes in the shared hold.
  local repeated = entry.want == 'x' and entry.claimed and entry.claim == '-'
  local ends = own.ends
  claim_token(state, own, entry.claim)
  lease(state, own, entry.ttl, repeated or entry.change ~= 's')
  own.attempt = '0'
  if own.ends < ends and state.flag ~= '0' then
    wake()
  end
  state.changed = true
  if state.mode == 'X' and entry.want == 's' then
    if entry.claim ~= state.fence then
      return -tonumber(state.fence)
    end
    state.mode, state.letter = 'S', 'S'
    serve(state)
  end
  return tonumber(state.fence)
end

local granted = { 1 }
for i, entry in ipairs(entries) do
  turn_to(KEYS[i])
  if not refusal then
    granted[#granted + 1] = take(entry)
  end
  if entry.state.changed or entry.state.granted then
    -- Only the first write of a script can fail for want of memory.
    local written = write(entry.state, retention)
    if written.err then
      return written
    end
  end
end
return refusal or granted
