package dev.latchkey.examples;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.redis.RedisStore;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** An application with a client of its own, in whichever version of the driver. */
final class OwnRedisClient {

    private static final Duration TTL = Duration.ofMinutes(1);

    private OwnRedisClient() {}

    /**
     * Locks by a DSN and by a client, and waits for each.
     *
     * @param dsns one
     */
    public static void main(String[] dsns) throws InterruptedException {
        try (LockFactory locks = LockFactory.connect(dsns[0] + "?strict=true")) {
            transferKey(locks);
        }
        RedisClient client = RedisClient.create(dsns[0]);
        RedisStore store = RedisStore.builder(client).strict().build();
        try (LockFactory locks = new LockFactory(store)) {
            transferKey(locks);
        }
        store.close();
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }

    private static void transferKey(LockFactory locks) throws InterruptedException {
        Lock first = locks.createLock("versions", TTL).acquire();
        Lock second = locks.createLock("versions", TTL);
        CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> {
            try {
                second.acquire();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        first.release();
        waiting.join();
        System.out.println("locked " + second.release());
    }
}
