package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectTest {

    @Test
    void givenInMemory_whenConnected_thenLocksExcludeEachOther() {
        try (LockFactory locks = LockFactory.connect("in-memory")) {
            assertThat(locks.createLock("x").tryAcquire()).isTrue();
            assertThat(locks.createLock("x").tryAcquire()).isFalse();
        }
    }

    @Test
    void givenNull_whenConnected_thenEverybodyIsGranted() {
        try (LockFactory locks = LockFactory.connect("null")) {
            assertThat(locks.createLock("x").tryAcquire()).isTrue();
            assertThat(locks.createLock("x").tryAcquire()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "flock,lock-store-flock",
        "redis://localhost,lock-store-redis",
        "redis-sentinel://a/0#m,lock-store-redis",
        "valkeys://a,lock-store-redis",
        "rediss-sentinel://a/0#m,lock-store-redis",
        "rediss-cluster://a,lock-store-redis",
        "mongodb+srv://h/db,lock-store-mongodb",
        "jdbc:postgresql://h/db,lock-store-jdbc",
        "postgresql+advisory://h/db,lock-store-postgres-advisory",
        "zookeeper://h:2181,lock-store-zookeeper",
        "etcd://h:2379,lock-store-etcd",
        "dynamodb://eu-central-1/locks,lock-store-dynamodb",
        "mysql+getlock://h/d,lock-store-mysql",
        "memcached://h,lock-store-memcached"
    })
    @Tag("class-path")
    void givenKnownStoreWhoseModuleIsMissing_whenConnected_thenNamesTheArtifact(String dsn, String artifact) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.connect(dsn))
                .withMessageContaining("add the artifact dev.latchkey:" + artifact);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "foo", "Flock", "FLOCK:", "s3://bucket", ":", "://", "in-memory-x"})
    void givenUnknownStore_whenConnected_thenSaysWhichAreKnown(String dsn) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.connect(dsn))
                .withMessageStartingWith("unknown store")
                .withMessageContaining("in-memory")
                .withMessageContaining("redis");
    }

    /** C10: what it is called elsewhere. */
    @ParameterizedTest
    @CsvSource({
        "postgres://h/db,postgresql://",
        "pgsql://h/db,postgresql://",
        "PGSQL+advisory://h/db,postgresql+advisory://",
        "sqlite:///x,jdbc:sqlite:",
        "memory,in-memory"
    })
    void givenWhatAStoreIsCalledElsewhere_whenConnected_thenSaysWhatIsMeant(String dsn, String meant) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.connect(dsn))
                .withMessageStartingWith("unknown store")
                .withMessageContaining("did you mean " + meant);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"redi://user:s3cret@host", "redis://user:s3cret@host", "in-memory:s3cret", "null://:s3cret@h"})
    @Tag("class-path")
    void givenWrongDsnWithPassword_whenConnected_thenThePasswordIsNotRepeated(String dsn) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.connect(dsn))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("s3cret"));
    }

    @Test
    void givenContextClassLoaderWithoutLatchkey_whenConnected_thenTheOwnLoaderServes() throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader empty = new URLClassLoader(new URL[0], null)) {
            thread.setContextClassLoader(empty);

            assertThat(LockFactory.connect("in-memory")).isNotNull();
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
