package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class QueuePositionTest {

    private static final long SERVER_MICROS = 1_700_000_000_000_000L;

    @Test
    void givenAMessage_whenItGrants_thenItCountsAsMuchLaterAsTheServerSays() {
        long asked = System.nanoTime() - TimeUnit.MINUTES.toNanos(1);
        QueuePosition place = new QueuePosition(asked, SERVER_MICROS, 1);

        long since = place.since(new Grant(SERVER_MICROS + 1_000_000, 10_000, 1, OptionalLong.empty()));

        assertThat(since - asked).isEqualTo(TimeUnit.SECONDS.toNanos(1));
    }

    /** A1: in a cluster the slot may have moved to a server with another clock, and no connection was lost. */
    @Test
    void givenTheReplyToARelease_whenTheClockOfItsServerIsAhead_thenTheGrantCountsFromBeforeTheReleaseWasSent() {
        long asked = System.nanoTime() - TimeUnit.MINUTES.toNanos(1);
        long sent = asked + TimeUnit.SECONDS.toNanos(30);
        QueuePosition place = new QueuePosition(asked, SERVER_MICROS, 1);

        long since = place.since(new Grant(SERVER_MICROS + 3_600_000_000L, 10_000, 1, OptionalLong.of(sent)));

        assertThat(since).isEqualTo(sent);
    }

    /** The request of the second answer has taken 30 ms longer to get to the server. */
    @Test
    void givenTwoAnswers_whenOneWasSlower_thenTheOtherIsMoreExact() {
        QueuePosition fast = new QueuePosition(0, SERVER_MICROS, 1);
        QueuePosition slow = new QueuePosition(1_000_000, SERVER_MICROS + 31_000, 1);
        QueuePosition faster = new QueuePosition(2_000_000, SERVER_MICROS + 1_999, 1);

        assertThat(slow.isMoreExactThan(fast)).isFalse();
        assertThat(fast.isMoreExactThan(slow)).isTrue();
        assertThat(faster.isMoreExactThan(fast)).isTrue();
    }

    @Test
    void givenAnAnswer_whenItIsOldOrOfAnotherConnection_thenTheNextOneIsMoreExact() {
        QueuePosition old = new QueuePosition(0, SERVER_MICROS, 1);

        assertThat(new QueuePosition(1_000_000_001, SERVER_MICROS + 2_000_000, 1).isMoreExactThan(old))
                .isTrue();
        assertThat(new QueuePosition(1, SERVER_MICROS + 1_000_000, 2).isMoreExactThan(old))
                .isTrue();
        assertThat(old.isMoreExactThan(new QueuePosition(1, SERVER_MICROS + 1_000_000, 2)))
                .isFalse();
    }
}
