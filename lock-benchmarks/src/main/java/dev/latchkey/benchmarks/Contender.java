package dev.latchkey.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Everything that is measured on Redis: each gives every thread its own way through one cycle, over one client. */
enum Contender {
    LATCHKEY("Latchkey") {
        @Override
        Cycles open(String host, int port) {
            var locks = dev.latchkey.LockFactory.connect("redis://" + host + ":" + port);
            return resource -> {
                dev.latchkey.Lock lock = locks.createLock(resource, TTL);
                return () -> {
                    lock.acquire();
                    return lock.release();
                };
            };
        }
    },
    LATCHKEY_SHARED("Latchkey, shared") {
        @Override
        Cycles open(String host, int port) {
            var locks = dev.latchkey.LockFactory.connect("redis://" + host + ":" + port);
            return resource -> {
                dev.latchkey.Lock lock = locks.createLock(resource + "-shared", TTL);
                return () -> {
                    lock.acquireShared();
                    return lock.release();
                };
            };
        }
    },
    FLOOR("SET NX PX + compare-and-delete") {
        @Override
        Cycles open(String host, int port) {
            RedisCommands<String, String> commands =
                    RedisClient.create("redis://" + host + ":" + port).connect().sync();
            String delete = commands.scriptLoad(
                    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end");
            return resource -> {
                String key = "floor:" + resource;
                String[] keys = {key};
                return () -> {
                    String token = UUID.randomUUID().toString();
                    while (commands.set(key, token, SetArgs.Builder.nx().px(TTL)) == null) {
                        LockSupport.parkNanos(POLL_NANOS);
                    }
                    Long deleted = commands.evalsha(delete, ScriptOutputType.INTEGER, keys, token);
                    return deleted == 1;
                };
            };
        }
    },
    REDISSON("Redisson RLock") {
        @Override
        Cycles open(String host, int port) {
            RedissonClient redisson = redisson(host, port);
            return resource -> cycle(redisson.getLock("redisson:" + resource));
        }
    },
    REDISSON_FAIR("Redisson RFairLock") {
        @Override
        Cycles open(String host, int port) {
            RedissonClient redisson = redisson(host, port);
            return resource -> cycle(redisson.getFairLock("redisson-fair:" + resource));
        }
    },
    REDISSON_FENCED("Redisson RFencedLock") {
        @Override
        Cycles open(String host, int port) {
            RedissonClient redisson = redisson(host, port);
            return resource -> {
                var lock = redisson.getFencedLock("redisson-fenced:" + resource);
                return () -> {
                    Long token = lock.lockAndGetToken();
                    lock.unlock();
                    return token > 0;
                };
            };
        }
    },
    REDISSON_WRITE("Redisson RReadWriteLock, write") {
        @Override
        Cycles open(String host, int port) {
            RedissonClient redisson = redisson(host, port);
            return resource ->
                    cycle(redisson.getReadWriteLock("redisson-rw:" + resource).writeLock());
        }
    },
    REDISSON_READ("Redisson RReadWriteLock, read") {
        @Override
        Cycles open(String host, int port) {
            RedissonClient redisson = redisson(host, port);
            return resource ->
                    cycle(redisson.getReadWriteLock("redisson-rw:" + resource).readLock());
        }
    },
    SPRING_SPIN("Spring RedisLockRegistry, spin") {
        @Override
        Cycles open(String host, int port) {
            return spring(host, port, RedisLockType.SPIN_LOCK);
        }
    },
    SPRING_PUB_SUB("Spring RedisLockRegistry, pub/sub") {
        @Override
        Cycles open(String host, int port) {
            return spring(host, port, RedisLockType.PUB_SUB_LOCK);
        }
    },
    SHEDLOCK("ShedLock") {
        @Override
        Cycles open(String host, int port) {
            LockProvider provider = new RedisLockProvider(connections(host, port), "benchmark");
            return resource -> () -> {
                LockConfiguration configuration = new LockConfiguration(Instant.now(), resource, TTL, Duration.ZERO);
                var lock = provider.lock(configuration);
                // It cannot wait: whoever wants it asks again.
                while (lock.isEmpty()) {
                    LockSupport.parkNanos(POLL_NANOS);
                    lock = provider.lock(configuration);
                }
                lock.ifPresent(SimpleLock::unlock);
                return true;
            };
        }
    };

    /** Makes one thread's cycle of acquire and release. */
    interface Cycles {
        Callable<Boolean> on(String resource);
    }

    private static final Duration TTL = Duration.ofSeconds(30);

    /** How often those ask again that can neither wait nor be woken; Redisson's spin lock begins with less. */
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final String title;

    Contender(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    /** One client, for all threads of this JVM; it ends with the JVM. */
    abstract Cycles open(String host, int port);

    private static RedissonClient redisson(String host, int port) {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + host + ":" + port);
        return Redisson.create(config);
    }

    @SuppressWarnings("LockNotBeforeTry") // What is measured is the lock and nothing in it.
    static Callable<Boolean> cycle(Lock lock) {
        return () -> {
            lock.lock();
            lock.unlock();
            return true;
        };
    }

    private static Cycles spring(String host, int port, RedisLockType type) {
        RedisLockRegistry registry = new RedisLockRegistry(connections(host, port), "spring", TTL.toMillis());
        registry.setRedisLockType(type);
        return resource -> cycle(registry.obtain(resource));
    }

    private static LettuceConnectionFactory connections(String host, int port) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(host, port);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }
}
