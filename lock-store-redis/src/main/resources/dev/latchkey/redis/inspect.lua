-- Shows who holds a resource, and who waits for it. Writes nothing, and shows no token.
--@ takes clock, STATE, QUEUE, FOREIGN, read, waiter, fresh
-- KEYS[1] the state
-- ARGV    1 list: a key that is not a lock counts as one that nobody holds
-- returns {fencing token or 0 if shared, how many hold it,
--          for each holder the us until its lease ends, the us since it was granted, its inbox or 0,
--          for each waiter 1 or 0 if shared, the us since it came or -1, its inbox}

local is_listed = ARGV[1] == 'list'
local raw = (is_listed and redis.pcall or redis.call)('GET', STATE)
if is_listed and type(raw) == 'table' and string.sub(raw.err, 1, 9) == 'WRONGTYPE' then
  return { 0, 0 }
elseif type(raw) == 'table' then
  return raw
elseif raw and string.sub(raw, 1, 2) ~= 'L1' then
  return is_listed and { 0, 0 } or redis.error_reply(FOREIGN)
end
local state = read(raw, clock())
local found = { state.mode == 'X' and tonumber(state.fence) or 0, #state.live }
local function add(...)
  for _, number in ipairs({ ... }) do
    found[#found + 1] = number
  end
end

for _, hold in ipairs(state.live) do
  add(hold.ends - state.at, math.max(0, state.at - hold.since), tonumber(hold.who) or 0)
end
if state.flag ~= '0' then
  local queue = redis.call('ZRANGE', QUEUE, 0, -1, 'WITHSCORES')
  for i = 1, #queue, 2 do
    local one, ticket = waiter(queue[i]), queue[i + 1]
    if one and fresh(state, one.attempt, ticket, one.poll) then
      local waited = ticket == '1' and -1 or math.max(0, state.at - ticket)
      add(one.want == 's' and 0 or 1, waited, tonumber(string.match(one.attempt, '^(%d+)%.')) or 0)
    end
  end
end
return found
