package dev.latchkey.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.net.URI;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** What else locks on Redis. Each is given {@code redis://host:port}. */
final class RedisPeers {

    private static final String BARE_RELEASE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    private RedisPeers() {}

    static Contender.Client floor(String address) {
        RedisCommands<String, String> commands =
                RedisClient.create(address).connect().sync();
        String release = commands.scriptLoad(BARE_RELEASE);
        return resource -> new Cycle() {
            private final String[] keys = {"floor:" + resource};
            private String token = "";

            @Override
            public void take() throws Exception {
                token = UUID.randomUUID().toString();
                SetArgs onlyIfFree = SetArgs.Builder.nx().px(Ours.TTL);
                Cycle.poll(() -> commands.set(keys[0], token, onlyIfFree) != null);
            }

            @Override
            public boolean giveUp() {
                Long deleted = commands.evalsha(release, ScriptOutputType.INTEGER, keys, token);
                return deleted == 1;
            }
        };
    }

    /** With a lease, as its documentation advises: without one, its watchdog renews what is held for microseconds. */
    static Contender.Opener redisson(String prefix, Function<RedissonClient, Function<String, RLock>> kind) {
        return address -> {
            var locks = kind.apply(redisson(address));
            return resource -> leased(locks.apply(prefix + resource));
        };
    }

    static Cycle leased(RLock lock) {
        return new Cycle() {
            @Override
            public void take() {
                lock.lock(Ours.TTL.toSeconds(), TimeUnit.SECONDS);
            }

            @Override
            public boolean giveUp() {
                lock.unlock();
                return true;
            }
        };
    }

    static Contender.Client redissonFenced(String address) {
        RedissonClient redisson = redisson(address);
        return resource -> {
            RFencedLock lock = redisson.getFencedLock("redisson-fenced:" + resource);
            return new Cycle() {
                @Override
                public void take() {
                    if (lock.lockAndGetToken(Ours.TTL.toSeconds(), TimeUnit.SECONDS) <= 0) {
                        throw new IllegalStateException("no token");
                    }
                }

                @Override
                public boolean giveUp() {
                    lock.unlock();
                    return true;
                }
            };
        };
    }

    static Contender.Opener spring(RedisLockType type) {
        return address -> {
            RedisLockRegistry registry = new RedisLockRegistry(connections(address), "spring", Ours.TTL.toMillis());
            registry.setRedisLockType(type);
            return resource -> Cycle.of(registry.obtain(resource));
        };
    }

    static Contender.Client shedLock(String address) {
        return ShedLock.cycles(new RedisLockProvider(connections(address), "benchmark"));
    }

    static RedissonClient redisson(String address) {
        Config config = new Config();
        config.useSingleServer().setAddress(address);
        return Redisson.create(config);
    }

    private static LettuceConnectionFactory connections(String address) {
        URI uri = URI.create(address);
        LettuceConnectionFactory factory = new LettuceConnectionFactory(uri.getHost(), uri.getPort());
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }
}
