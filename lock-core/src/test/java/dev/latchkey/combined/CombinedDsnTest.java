package dev.latchkey.combined;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CombinedDsnTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "in-memory,in-memory,null|in-memory;in-memory;null",
                "redis://a,redis://b:1/2,flock|redis://a;redis://b:1/2;flock",
                "redis-cluster://h1:1,redis:6379,null,jdbc:h2:mem:x|redis-cluster://h1:1,redis:6379;null;jdbc:h2:mem:x",
                "zookeeper://a,b,c/x,combined:unanimous(in-memory,null)|"
                        + "zookeeper://a,b,c/x;combined:unanimous(in-memory,null)",
                "jdbc:oracle:thin:@(D=(A=x,y)),flock:///v|jdbc:oracle:thin:@(D=(A=x,y));flock:///v",
                "in-memory|in-memory",
            })
    void givenMembers_whenSplit_thenAHostInAListIsNoMember(String list, String members) {
        assertThat(CombinedDsn.members(list)).containsExactly(members.split(";"));
    }

    @Test
    void givenDsn_whenConnected_thenItLocks() {
        String dsn = "combined:consensus(in-memory,in-memory,combined:unanimous(in-memory,in-memory))";
        try (LockFactory locks = LockFactory.connect(dsn)) {
            Lock lock = locks.createLock("x");

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(locks.createLock("x").tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
            assertThat(locks.createLock("x").tryAcquire()).isTrue();
        }
    }

    /** B12: members were closed before the releases that were on their way to them. */
    @Test
    void givenAMemberIsSlowToRelease_whenClosed_thenItIsClosedAfterThat() throws Exception {
        List<Slow> members = List.of(new Slow(), new Slow(), new Slow());
        CombinedStore combined = new CombinedStore(members, new ConsensusStrategy());
        PersistingStore store = new CombinedDsn.Owning(combined, List.copyOf(members));
        Key key = Key.of("x");
        assertThat(store.save(new Request(key, LockMode.EXCLUSIVE, Duration.ofMinutes(1), RetryIntent.ONCE)))
                .isInstanceOf(Response.Granted.class);
        Slow slow = members.get(2);
        slow.mayDelete.drainPermits();
        assertThat(store.delete(key)).isTrue();
        FutureTask<Void> close = new FutureTask<>(store::close, null);
        Thread closing = new Thread(close, "close");
        closing.start();
        while (!close.isDone() && closing.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }

        slow.mayDelete.release();
        close.get(LIMIT.toSeconds(), TimeUnit.SECONDS);

        assertThat(slow.calls).endsWith("delete", "close");
        assertThat(members).allSatisfy(member -> assertThat(member.calls).endsWith("close"));
    }

    /** Says when it may delete. */
    private static final class Slow implements PersistingStore {

        private final InMemoryStore store = new InMemoryStore();
        private final List<String> calls = new CopyOnWriteArrayList<>();
        private final Semaphore mayDelete = new Semaphore(1);

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public boolean delete(Key key) {
            mayDelete.acquireUninterruptibly();
            calls.add("delete");
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }

        @Override
        public void close() {
            calls.add("close");
            store.close();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "combined:consensus",
                "combined:(redis://:s3cret@h)",
                "combined:most(redis://:s3cret@h)",
                "combined://consensus(redis://:s3cret@h)",
                "combined:consensus(in-memory,redi://:s3cret@h)",
                "combined:consensus(in-memory,redis://:s3cret@h)",
                "combined:consensus(in-memory",
                "combined:consensus()",
            })
    @Tag("class-path")
    void givenWrongDsn_whenConnected_thenSaysWhatIsRightAndNoPassword(String dsn) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.connect(dsn))
                .satisfies(
                        e -> assertThat(e.getMessage()).doesNotContain("s3cret").hasSizeGreaterThan(20));
    }
}
