package dev.latchkey.testkit;

import dev.latchkey.Key;
import java.time.Duration;
import java.util.OptionalLong;

/** A {@link dev.latchkey.Lock} in a {@link SecondProcess}. What fails there is thrown here as {@link RemoteFailure}. */
public final class RemoteLock {

    private final SecondProcess process;
    private final String name;

    RemoteLock(SecondProcess process, String name) {
        this.process = process;
        this.name = name;
    }

    /**
     * Takes it exclusively if it is free.
     *
     * @return as {@link dev.latchkey.Lock#tryAcquire()}
     */
    public boolean tryAcquire() {
        return process.send("tryAcquire", name).isYes();
    }

    /**
     * Takes it shared if that is possible now.
     *
     * @return as {@link dev.latchkey.Lock#tryAcquireShared()}
     */
    public boolean tryAcquireShared() {
        return process.send("tryAcquireShared", name).isYes();
    }

    /**
     * Begins to wait for it, exclusively.
     *
     * @param maxWait how long at the most
     * @return yes once it is held, no when the wait is over
     */
    public Reply startAcquire(Duration maxWait) {
        return process.send("acquire", name, maxWait.toString());
    }

    /**
     * Begins to wait for it, shared.
     *
     * @param maxWait how long at the most
     * @return yes once it is held, no when the wait is over
     */
    public Reply startAcquireShared(Duration maxWait) {
        return process.send("acquireShared", name, maxWait.toString());
    }

    /** Starts its TTL again. */
    public void refresh() {
        process.send("refresh", name).text();
    }

    /**
     * Gives it up.
     *
     * @return as {@link dev.latchkey.Lock#release()}
     */
    public boolean release() {
        return process.send("release", name).isYes();
    }

    /**
     * Asks the store.
     *
     * @return as {@link dev.latchkey.Lock#isAcquired()}
     */
    public boolean isAcquired() {
        return process.send("isAcquired", name).isYes();
    }

    /**
     * Asks the lock alone.
     *
     * @return as {@link dev.latchkey.Lock#isExpired()}
     */
    public boolean isExpired() {
        return process.send("isExpired", name).isYes();
    }

    /**
     * Returns the number of its hold.
     *
     * @return as {@link dev.latchkey.Lock#fencingToken()}
     */
    public OptionalLong fencingToken() {
        String token = process.send("fencingToken", name).text();
        return token.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(token));
    }

    /**
     * Fetches its key; the lock keeps what it holds.
     *
     * @return the key, as it travelled
     */
    public Key key() {
        return Key.deserialize(process.send("key", name).text());
    }

    /**
     * Has the lock give its key away, and fetches it.
     *
     * @return the key, as it travelled
     */
    public Key transferKey() {
        return Key.deserialize(process.send("transferKey", name).text());
    }
}
