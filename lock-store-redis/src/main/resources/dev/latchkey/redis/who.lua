-- Notes for people who a store belongs to.
-- KEYS[1] the entry of the store, by its inbox
-- ARGV    1 the owner name   2 how long it is kept, in ms
-- returns 1

redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
