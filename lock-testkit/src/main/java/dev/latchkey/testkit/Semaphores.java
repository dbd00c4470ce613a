package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;

import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;

/** The semaphores of contract tests. */
final class Semaphores {

    private Semaphores() {}

    /** Makes a semaphore with the name of the fixture's resource, whose leases do not end during the test. */
    static Semaphore of(Fixture fixture, int permits) {
        return fixture.locks()
                .semaphore(fixture.resource(), permits)
                .ttl(LONG_TTL)
                .create();
    }

    /** Acquires permits that are free. */
    static Permit acquired(Semaphore semaphore, int count) {
        return semaphore.tryAcquire(count).orElseThrow(() -> new AssertionError(count + " permits are not free"));
    }
}
