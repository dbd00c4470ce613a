package dev.latchkey.tree;

import static dev.latchkey.tree.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.spi.StateRule;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EditorHoldStoreTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private final BatchCounter store = new BatchCounter(new InMemoryStore());
    private final ReentrantLock turn = new ReentrantLock();
    private final EditorHoldStore holdStore = new EditorHoldStore(store);
    private final List<Runnable> apart = new ArrayList<>();
    private final EditorKeys keys = keys();
    private final LockFactory factory = new LockFactory(holdStore);
    private final Lock lock = factory.createLock("tree#1");

    private EditorKeys keys() {
        return new EditorKeys(
                store, new BatchRequests(store, Optional.empty(), StateRule.BOTH_INDEXES), TTL, turn, apart::add);
    }

    /** This happens when the JVM exits: an editor that releases has its own turn, and waits for that of the Lock. */
    @Test
    void givenTheEditorHasItsTurn_whenTheFactoryIsClosed_thenEverythingIsReleasedWithoutIt() throws Exception {
        Key held = acquire(keys, "root");
        holdStore.begin("tree#1", keys);
        assertThat(lock.tryAcquire()).isTrue();
        FutureTask<Void> exit = new FutureTask<>(factory::close, null);
        turn.lock();
        try {
            new Thread(exit, "exit").start();

            exit.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            lock.close();
        } finally {
            turn.unlock();
        }

        assertThat(store.find(held)).isEmpty();
        assertThat(keys.keys()).isEmpty();
        assertThat(holdStore.size()).isZero();
    }

    /** The renewal does not include what is being acquired, whose lease begins before it. */
    @Test
    void givenSomethingIsBeingAcquired_whenTheRestIsRenewed_thenTheLeaseStartsNoLaterThanThatRequest() {
        Key held = acquire(keys, "root");
        holdStore.begin("tree#1", keys);
        keys.acquiringBegins();
        long begun = System.nanoTime();

        assertThat(sinceOf(renew()) - begun).isNotPositive();

        keys.acquiringEnds();
        assertThat(sinceOf(renew()) - begun).isPositive();
        assertThat(store.find(held)).isPresent();
    }

    /** What the second request takes comes when everything was released: its Lock is held no more, and nothing would end it. */
    @Test
    void givenTheJvmExitsBeforeAnAnswer_whenThatIsTakenIn_thenItIsGivenBack() {
        EditorHold editor = new EditorHold("tree", "tree#1", keys, holdStore, lock);
        List<Request> first = List.of(keys.request(Key.of("first"), LockMode.EXCLUSIVE));
        editor.add(first, (BatchAttempt.Granted) store.saveAll(first));
        Request second = keys.request(Key.of("second"), LockMode.EXCLUSIVE);
        BatchAttempt.Granted granted = (BatchAttempt.Granted) store.saveAll(List.of(second));

        assertThatIllegalStateException()
                .isThrownBy(() -> editor.add(new Meanwhile(second, factory::close), granted))
                .withMessageContaining("closed");

        assertThat(store.find(second.key())).isEmpty();
        assertThat(keys.keys()).isEmpty();
    }

    /** A stage lasts as long as its session: it kept something for each renewal. */
    @Test
    void givenASession_whenRenewedAgainAndAgain_thenItsEndIsListenedToOnce() {
        Key unused = acquire(keys, "root");
        CompletableFuture<LossReason> session = new CompletableFuture<>();
        for (int i = 0; i < 10; i++) {
            EditorRenewal renewal = keys.renewal(lockRequest("tree#1"));
            Response unusedToo = renewal.settle(List.of(new RefreshResult.Answered(
                    new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.empty(), Lease.session(session)))));
        }

        assertThat(session.getNumberOfDependents()).isEqualTo(1);
        session.complete(LossReason.SESSION_LOST);
        assertThat(keys.isOver()).isTrue();
    }

    /** A store that hangs then would keep the editors after it from being renewed. */
    @Test
    void givenADemotionWasNotAnswered_whenRenewedWithoutTheEditor_thenItIsRepeatedApart() {
        BatchRequests requests = new BatchRequests(store, Optional.empty(), StateRule.BOTH_INDEXES);
        EditorKeys editor = new EditorKeys(store, requests, TTL, turn, apart::add);
        Key held = acquire(editor, "root");
        holdStore.begin("tree#1", editor);
        store.failNext();
        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(() -> editor.returnTo(Map.of("root", LockMode.SHARED)));
        assertThat(renew()).isInstanceOf(Response.Granted.class);
        assertThat(store.find(held)).get().extracting(Response.Granted::mode).isEqualTo(LockMode.EXCLUSIVE);

        apart.forEach(Runnable::run);

        assertThat(store.find(held)).get().extracting(Response.Granted::mode).isEqualTo(LockMode.SHARED);
    }

    /** Something happens when it is looked at. */
    private static final class Meanwhile extends AbstractList<Request> {

        private final Request request;
        private final Runnable meanwhile;

        Meanwhile(Request request, Runnable meanwhile) {
            this.request = request;
            this.meanwhile = meanwhile;
        }

        @Override
        public Request get(int index) {
            meanwhile.run();
            return request;
        }

        @Override
        public int size() {
            return 1;
        }
    }

    private Response renew() {
        return holdStore.refresh(lockRequest("tree#1"));
    }

    private static long sinceOf(Response response) {
        return ((Response.Granted) response).lease().since().orElseThrow();
    }

    private static Request lockRequest(String resource) {
        return new Request(Key.of(resource), LockMode.EXCLUSIVE, TTL, RetryIntent.ONCE);
    }

    /** The holds of one editor are never split, and one that holds more than a batch is a batch of its own. */
    @Test
    void givenEditorsWithManyIds_whenRenewed_thenInBatchesOfAThousand() {
        List<Request> requests = new ArrayList<>();
        int number = 0;
        for (int size : new int[] {600, 400, 1, 1_500, 999}) {
            EditorKeys editor = keys();
            int own = ++number;
            IntStream.range(0, size).forEach(i -> acquire(editor, own + "/" + i));
            holdStore.begin("tree#" + own, editor);
            requests.add(lockRequest("tree#" + own));
        }

        List<RefreshResult> results = holdStore.refreshAll(requests, TTL);

        assertThat(store.renewals()).containsExactly(1_000, 1, 1_500, 999);
        assertThat(results)
                .hasSize(5)
                .allSatisfy(result -> assertThat(result)
                        .isInstanceOfSatisfying(
                                RefreshResult.Answered.class,
                                answered -> assertThat(answered.response()).isInstanceOf(Response.Granted.class)));
    }

    @Test
    void givenOneEditorHasLostSomething_whenAllAreRenewed_thenOnlyThatOneIsLost() {
        List<Request> requests = new ArrayList<>();
        List<Key> held = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            EditorKeys editor = keys();
            held.add(acquire(editor, "a" + i));
            Key unused = acquire(editor, "b" + i);
            holdStore.begin("tree#" + i, editor);
            requests.add(lockRequest("tree#" + i));
        }
        assertThat(store.delete(held.get(1))).isTrue();

        List<RefreshResult> results = holdStore.refreshAll(requests, TTL);

        assertThat(store.renewals()).containsExactly(6);
        assertThat(results.stream()
                        .map(result -> ((RefreshResult.Answered) result).response() instanceof Response.Granted))
                .containsExactly(true, false, true);
    }

    @Test
    void givenReleasedInTheMeantime_whenAllAreRenewed_thenTheOthersAreRenewed() {
        Key unused = acquire(keys, "root");
        holdStore.begin("tree#1", keys);

        List<RefreshResult> results = holdStore.refreshAll(List.of(lockRequest("tree#0"), lockRequest("tree#1")), TTL);

        assertThat(results.get(0)).isEqualTo(new RefreshResult.Answered(new Response.Lost(LossReason.EXPIRED)));
        assertThat(((RefreshResult.Answered) results.get(1)).response()).isInstanceOf(Response.Granted.class);
    }

    private Key acquire(EditorKeys editor, String resource) {
        List<Request> requests = List.of(editor.request(Key.of(resource), LockMode.EXCLUSIVE));
        editor.add(requests, (BatchAttempt.Granted) store.saveAll(requests));
        return requests.get(0).key();
    }
}
