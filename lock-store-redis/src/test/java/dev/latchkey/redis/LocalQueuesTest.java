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
        first.noteTicket(SERVER_MICROS, new QueuePosition(System.nanoTime(), SERVER_MICROS, GENERATION));

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
        first.noteTicket(SERVER_MICROS, new QueuePosition(System.nanoTime(), SERVER_MICROS, GENERATION));

        assertThat(joins(place(shared(Key.of(RESOURCE))))).isFalse();

        first.leave(true);
        assertThat(queues.takeAlong(RESOURCE)).isEmpty();
    }

    @Test
    void givenAnswersThatTookLonger_whenOneJoins_thenItsTimeIsThatOfTheFastestOne() {
        LocalQueues.Place first = place(request());
        joins(first);
        long before = System.nanoTime();
        first.noteTicket(SERVER_MICROS, new QueuePosition(before, SERVER_MICROS, GENERATION));
        first.noteTicket(SERVER_MICROS, new QueuePosition(before, SERVER_MICROS + 30_000, GENERATION));
        LocalQueues.Place second = place(request());

        joins(second);

        long passed = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - before);
        assertThat(second.ticket(GENERATION)).isBetween(SERVER_MICROS, SERVER_MICROS + passed);
        assertThat(second.ticket(GENERATION + 1))
                .as("by the clock of another server")
                .isZero();
    }

    /** The answer to the second is what tells the time more exactly. */
    @Test
    void givenATimeThatGetsMoreExact_whenTwoAskOneAfterTheOther_thenTheirTicketsAreInTheOrderOfArrival() {
        LocalQueues.Place first = place(request());
        joins(first);
        long before = System.nanoTime();
        first.noteTicket(SERVER_MICROS, new QueuePosition(before, SERVER_MICROS + 30_000, GENERATION));
        LocalQueues.Place second = place(request());
        LocalQueues.Place third = place(request());
        joins(second);
        joins(third);
        long ticket = second.ticket(GENERATION);

        second.noteTicket(ticket, new QueuePosition(before, SERVER_MICROS, GENERATION));

        assertThat(third.ticket(GENERATION)).isGreaterThan(ticket);
        assertThat(second.ticket(GENERATION)).as("as it was asked for").isEqualTo(ticket);
    }

    /** Its request was sent, but may get there late. */
    @Test
    void givenOneThatAskedHasNoAnswer_whenOneThatCameLaterAsks_thenItsTicketIsOfWhenItAsks() {
        LocalQueues.Place first = place(request());
        LocalQueues.Place second = place(request());
        joins(first);
        joins(second);
        QueuePosition time = new QueuePosition(System.nanoTime(), SERVER_MICROS, GENERATION);
        first.noteTicket(SERVER_MICROS, time);
        LocalQueues.Place third = place(request());
        LocalQueues.Place fourth = place(request());
        assertThat(joins(third)).isTrue();
        assertThat(joins(fourth)).isTrue();

        assertThat(third.ticket(GENERATION)).isZero();

        second.noteTicket(SERVER_MICROS + 90_000_000, time);
        assertThat(fourth.ticket(GENERATION)).as("the third has no answer").isZero();
        third.leave(false);
        LocalQueues.Place fifth = place(request());
        joins(fifth);
        fourth.noteTicket(SERVER_MICROS + 95_000_000, time);
        assertThat(fifth.ticket(GENERATION)).isEqualTo(SERVER_MICROS + 95_000_001);
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
