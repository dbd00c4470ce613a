-- Remembers with which change resources were given up: the greater of each number and what is there. Stays without a TTL.
--@ takes digits
-- KEYS    the states; the indexes are in KEYS[i]:i
-- ARGV    i '<exclusive index> <shared index>' of KEYS[i]
-- returns 1

for i, key in ipairs(KEYS) do
  local raw = redis.call('GET', key .. ':i')
  local exclusive, shared = string.match(raw or '0 0', '^(%d+) (%d+)$')
  local other_exclusive, other_shared = string.match(ARGV[i], '^(%d+) (%d+)$')
  local raised = digits(math.max(exclusive, other_exclusive)) .. ' ' .. digits(math.max(shared, other_shared))
  if raised ~= raw then
    redis.call('SET', key .. ':i', raised)
  end
end
return 1
