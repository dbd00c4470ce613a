package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.spi.ForceReleaseStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Locks of several resources of one test, and what others see of them. */
final class SeveralResources {

    private SeveralResources() {}

    static String name(Fixture fixture, String part) {
        return fixture.resource() + "-" + part;
    }

    static List<String> names(Fixture fixture, String... parts) {
        return Stream.of(parts).map(part -> name(fixture, part)).toList();
    }

    static Lock all(Fixture fixture, String... parts) {
        return fixture.locks().all(names(fixture, parts)).create();
    }

    static Lock one(Fixture fixture, String part) {
        return fixture.locks().createLock(name(fixture, part), LONG_TTL);
    }

    static void force(Fixture fixture, Lock lock, String part) {
        String resource = name(fixture, part);
        long token = Objects.requireNonNull(lock.fencingTokens().get(resource));
        assertThat(fixture.store(ForceReleaseStore.class).forceRelease(resource, token))
                .isTrue();
    }

    /** Asks the store itself, and gives back at once. */
    static List<String> freeOf(Fixture fixture, String... parts) {
        List<String> free = new ArrayList<>();
        for (String part : parts) {
            Lock lock = one(fixture, part);
            if (lock.tryAcquire()) {
                free.add(part);
                assertThat(lock.release()).isTrue();
            }
        }
        return free;
    }
}
