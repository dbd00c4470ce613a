-- The permits of a semaphore. All time is the server's, in microseconds, as text of 16 digits: such texts compare like the numbers.
--@ gives STATE, HOLDS, QUEUE, BEATS, QUEUE_TTL, FOREIGN, digits, read, write, seek, forget, room, patience, last_until, extend, know
--@ gives grant
--
-- KEYS[1]     who holds, a string; it ends with :s, and before that is the key of the lock with the same name, which is not used.
--             While a slot of a cluster moves away, a server looks whether this key is there to decide who is to answer:
--               P1 <flag> { ' ' <token>:<end us>:<permits>:<N>:<since us>:<attempt>:<who> }
--               flag     0 nobody waits, 1 somebody may, 2 there are heartbeats too. May be too high, never too low
--               N        how many permits there are, as the holder knows it
--               attempt  who may undo it by a cancel; 0 nobody
--               who      the inbox of the store that holds; if it is not there, the one that the attempt names
-- KEYS[1]:q   the queue, a sorted set of '<token> <attempt> <permits>/<N> <ttl ms> <poll ms> <push>' by ticket, as that of a lock
-- KEYS[1]:h   when a waiter was last heard of, a hash by attempt
--
-- Nothing of it is left when nobody holds or waits.

local HOLDS, QUEUE, BEATS = KEYS[1], KEYS[1] .. ':q', KEYS[1] .. ':h'
-- What the channels are named after.
local STATE = string.sub(KEYS[1], 1, -3)
local QUEUE_TTL = 60000
local FOREIGN = 'FOREIGN the value of this key is not a semaphore'

local function digits(number)
  return string.format('%.0f', number)
end

local function add(state, hold)
  state.holds[#state.holds + 1], state.by[hold.token] = hold, hold
  state.held, state.least = state.held + hold.count, math.min(state.least, hold.limit)
end

-- The state as a table, without the leases that have ended. There may be thousands of holds: each keeps its text until it changes.
local function read(raw, at)
  local state = { at = at, flag = raw and string.sub(raw, 3, 3) or '0', held = 0, least = math.huge, holds = {}, by = {} }
  for text, token, ends, count, limit, since, attempt, who in
    string.gmatch(raw or '', '( ([^: ]+):(%d+):(%d+):(%d+):(%d+):([^: ]+):?(%d*))')
  do
    if ends > at then
      add(state, {
        text = text, token = token, ends = tonumber(ends), count = tonumber(count), limit = tonumber(limit), since = since,
        attempt = attempt, who = who
      })
    else
      state.changed = true
    end
  end
  return state
end

-- Writes the state, and keeps it until the last lease ends, and not for less than the queue. Returns the error if there is one.
local function write(state)
  state.changed = false
  if #state.holds == 0 and state.flag == '0' then
    redis.call('DEL', HOLDS)
    return nil
  end
  local text, last = { 'P1', state.flag }, tonumber(state.at)
  for _, hold in ipairs(state.holds) do
    hold.text = hold.text
      or ' ' .. hold.token .. ':' .. digits(hold.ends) .. ':' .. digits(hold.count) .. ':' .. digits(hold.limit) .. ':' .. hold.since
        .. ':' .. hold.attempt .. (hold.who ~= '' and ':' .. hold.who or '')
    text[#text + 1] = hold.text
    last = math.max(last, hold.ends)
  end
  local keep = math.ceil((last - state.at) / 1000) + (state.flag == '0' and 0 or QUEUE_TTL)
  local written = redis.pcall('SET', HOLDS, table.concat(text), 'PX', digits(keep))
  return written.err and written
end

-- What a token holds.
local function seek(state, token)
  return state.by[token]
end

-- Removes what a token holds; returns whether there was something.
local function forget(state, token)
  local found = seek(state, token)
  if not found then
    return false
  end
  local others = state.holds
  state.holds, state.by, state.held, state.least, state.changed = {}, {}, 0, math.huge, true
  for _, hold in ipairs(others) do
    if hold ~= found then
      add(state, hold)
    end
  end
  return true
end

-- How many more may be held by one who knows this N.
local function room(state, limit)
  return math.min(limit, state.least) - state.held
end

-- Milliseconds until the first lease ends; 0 if nothing is held.
local function patience(state)
  local first
  for _, hold in ipairs(state.holds) do
    first = math.min(first or hold.ends, hold.ends)
  end
  return first and math.max(0, math.ceil((first - state.at) / 1000)) or 0
end

local function last_until(state, hold, ends)
  hold.ends, hold.text, state.changed = ends, nil, true
end

-- Starts a lease now. It ends sooner than before only if that is asked for. Returns whether it does.
local function extend(state, hold, ms, change)
  local ends, before = state.at + 1000 * ms, hold.ends
  if change == 's' or ends > before then
    last_until(state, hold, ends)
  end
  return hold.ends < before
end

-- Notes that its holder knows of a hold, so that no late cancel may undo it.
local function know(state, hold)
  if hold.attempt ~= '0' then
    hold.who = hold.who == '' and string.match(hold.attempt, '^%d+') or hold.who
    hold.attempt, hold.text, state.changed = '0', nil, true
  end
end

local function grant(state, token, attempt, who, count, limit, ms)
  add(state, {
    token = token, ends = state.at + 1000 * ms, count = tonumber(count), limit = tonumber(limit), since = state.at,
    attempt = attempt, who = who
  })
  state.changed = true
end
