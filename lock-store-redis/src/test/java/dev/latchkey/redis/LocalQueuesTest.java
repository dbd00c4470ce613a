package dev.latchkey.redis;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who is at home, and since when. {@link LocalQueuesModelTest} tries all orders of what two threads do. */
class LocalQueuesTest {

    private static final String RESOURCE = "report";
    private static final int GENERATION = 1;
    private static final long SERVER_MICROS = 1_700_000_000_000_000L;

    private final LocalQueues queues = new LocalQueues(Duration.ofHours(1));

    private LocalQueues.Place place(Request request) {
        Requests requests = new Requests(new KeyNames("lock:"), Duration.ofMinutes(1), "1");
        return queues.place(new LockAttempt(requests, request, "1.1"));
    }

    private static boolean joins(LocalQueues.Place place) {
        return place.join(new NobodyElse(), NotificationChannel.Push.NONE, GENERATION);
    }

    private static Request request() {
        return exclusive(Key.of(RESOURCE));
    }

    @Test
    void givenNobody_whenOneJoins_thenItAsks() {
        assertThat(joins(place(request()))).isFalse();
        assertThat(queues.takeAlong(RESOURCE)).isEmpty();
    }

    @Test
    void givenTheTimeOfTheServerIsNotKnown_whenTheSecondJoins_thenItAsks() {
        joins(place(request()));

        assertThat(joins(place(request()))).isFalse();
    }

    @Test
    void givenTheTimeOfTheServerIsKnown_whenOthersJoin_thenTheyAreAtHomeAndTakenAlongInOrder() {
        LocalQueues.Place first = place(request());
        LocalQueues.Place second = place(request());
        LocalQueues.Place third = place(request());
        joins(first);
        first.noteTime(new QueuePosition(System.nanoTime(), SERVER_MICROS, GENERATION));

        assertThat(joins(second)).isTrue();
        assertThat(joins(third)).isTrue();
        assertThat(queues.takeAlong(RESOURCE)).as("the first has asked").isEmpty();
        first.leave(true);
        assertThat(queues.takeAlong(RESOURCE)).containsSame(second);
        assertThat(queues.takeAlong(RESOURCE)).as("nobody is taken along twice").isEmpty();
        second.leave(true);
        assertThat(queues.takeAlong(RESOURCE)).containsSame(third);
    }

    /** A reader, a promoter: the server decides for them alone. */
    @Test
    void givenARequestThatCannotBeTakenAlong_whenItJoins_thenItAsksAndNobodyIsBehindIt() {
        assertThat(joins(place(shared(Key.of(RESOURCE))))).isFalse();
        LocalQueues.Place first = place(request());
        joins(first);
        first.noteTime(new QueuePosition(System.nanoTime(), SERVER_MICROS, GENERATION));

        assertThat(joins(place(shared(Key.of(RESOURCE))))).isFalse();

        first.leave(true);
        assertThat(queues.takeAlong(RESOURCE)).isEmpty();
    }

    @Test
    void givenAnswersThatTookLonger_whenOneJoins_thenItsTimeIsThatOfTheFastestOne() {
        LocalQueues.Place first = place(request());
        joins(first);
        long before = System.nanoTime();
        first.noteTime(new QueuePosition(before, SERVER_MICROS, GENERATION));
        first.noteTime(new QueuePosition(before, SERVER_MICROS + 30_000, GENERATION));
        LocalQueues.Place second = place(request());

        joins(second);

        long passed = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - before);
        assertThat(second.ticket(GENERATION)).isBetween(SERVER_MICROS, SERVER_MICROS + passed);
        assertThat(second.ticket(GENERATION + 1))
                .as("by the clock of another server")
                .isZero();
    }

    /** Is told nothing here. */
    private static final class NobodyElse implements Waiter {

        @Override
        public String attempt() {
            return "1.1";
        }

        @Override
        public String resource() {
            return RESOURCE;
        }

        @Override
        public String token() {
            return "token";
        }

        @Override
        public boolean isGranted() {
            return false;
        }

        @Override
        public boolean isGrantedInTurn() {
            return false;
        }

        @Override
        public void granted(Grant grant) {
            throw new AssertionError("nobody passes it on");
        }

        @Override
        public void granted(Grant grant, QueuePosition position) {
            throw new AssertionError("nobody passes it on");
        }

        @Override
        public void queued(QueuePosition position, long millisToLeaseEnd) {
            throw new AssertionError("nobody passes it on");
        }

        @Override
        public void askAgain() {
            throw new AssertionError("nobody asks it to");
        }

        @Override
        public void leaveHome() {
            throw new AssertionError("all before it were granted the lock");
        }

        @Override
        public void fail() {
            throw new AssertionError("nobody closes the store");
        }

        @Override
        public void leave() {
            throw new AssertionError("it is in no registry");
        }

        @Override
        public void giveBack() {
            throw new AssertionError("it is in no registry");
        }
    }
}
