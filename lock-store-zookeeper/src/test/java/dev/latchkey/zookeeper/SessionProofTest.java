package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionProofTest {

    private static final long TIMEOUT = 12_000;

    @Test
    void givenNothingProven_thenNothingIsBelieved() {
        assertThat(SessionProof.none().endNanos(TIMEOUT) - System.nanoTime()).isNegative();
    }

    /** A20: the leader may have heard of it a third of the timeout and a report before. */
    @Test
    void givenTheFirstProofAfterAPause_thenHalfOfTheTimeoutIsBelieved() {
        SessionProof proofs = SessionProof.none();
        long sent = System.nanoTime();

        proofs.add(sent, sent, TIMEOUT, 0);

        assertThat(proofs.endNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT / 2);
        assertThat(proofs.dueNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT / 4);
    }

    /** Who holds has seen the end, or will before the next proof. */
    @Test
    void givenTheEndHasCome_whenAProofComesLate_thenItAddsNothing() {
        SessionProof proofs = SessionProof.ofNewSession(System.nanoTime());
        long end = proofs.endNanos(1);

        assertThat(proofs.addUnlessOver(System.nanoTime(), 1, 0)).isFalse();

        assertThat(proofs.endNanos(1)).isEqualTo(end);
        assertThat(proofs.addUnlessOver(System.nanoTime(), TimeUnit.HOURS.toNanos(1), 0))
                .isTrue();
    }

    @Test
    void givenTwoProofsAQuarterApart_thenAWholeTimeoutFromTheFirst() {
        SessionProof proofs = SessionProof.none();
        long sent = System.nanoTime();
        proofs.add(sent, sent, TIMEOUT, 0);

        proofs.add(sent + TIMEOUT / 4, sent + TIMEOUT / 4, TIMEOUT, 0);

        assertThat(proofs.endNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT);
        assertThat(proofs.dueNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT / 2);
    }

    @Test
    void givenTwoProofsCloseToEachOther_thenTheSecondAddsWhatIsLikely() {
        SessionProof proofs = SessionProof.none();
        long sent = System.nanoTime();
        proofs.add(sent, sent, TIMEOUT, 0);

        proofs.add(sent + TIMEOUT / 8, sent + TIMEOUT / 8, TIMEOUT, 0);

        assertThat(proofs.endNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT / 8 + TIMEOUT / 2);
    }

    /** Both came to the server at one moment, and it has reported neither to the leader. */
    @Test
    void givenTheSecondOfThreeWasAnsweredLate_whenTheThirdWasSentAtOnceThen_thenTheSecondIsNoProofYet() {
        SessionProof proofs = SessionProof.none();
        long sent = System.nanoTime();
        proofs.add(sent, sent, TIMEOUT, 0);
        long late = sent + TIMEOUT / 2;
        proofs.add(sent + TIMEOUT / 4, late, TIMEOUT, 0);

        proofs.add(late, late, TIMEOUT, 0);

        assertThat(proofs.endNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT);
        assertThat(proofs.dueNanos(TIMEOUT)).isEqualTo(late + TIMEOUT / 4);
    }

    /** The client cannot have said that it is there as long as its process stood still. */
    @Test
    void givenTheProcessMayHaveStoodStill_thenThatMuchLessIsBelieved() {
        SessionProof proofs = SessionProof.none();
        long sent = System.nanoTime();

        proofs.add(sent, sent, TIMEOUT, TIMEOUT / 3);

        assertThat(proofs.endNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT / 2 - TIMEOUT / 3);
        assertThat(proofs.isTooLittle(sent, TIMEOUT, TIMEOUT / 3)).isTrue();
        assertThat(proofs.isTooLittle(sent, TIMEOUT, TIMEOUT / 8)).isFalse();
    }

    @Test
    void givenTwoProofsAfterTheProcessStoodStill_thenThatIsEnough() {
        SessionProof proofs = SessionProof.none();
        long sent = System.nanoTime();
        proofs.add(sent, sent, TIMEOUT, TIMEOUT);
        long second = sent + TIMEOUT / 4;
        assertThat(proofs.isTooLittle(second, TIMEOUT, TIMEOUT)).isTrue();

        proofs.add(second, second, TIMEOUT, TIMEOUT);

        assertThat(proofs.isTooLittle(second, TIMEOUT, TIMEOUT)).isFalse();
    }

    /**
     * A20: a server that reports to the leader which sessions it has heard of, with the connection between the two cut at
     * any moment. The client pings when it has nothing else to say, its requests may be on their way for long, and its
     * process stands still at times.
     */
    @ParameterizedTest
    @ValueSource(ints = {6, 8, 15, 30})
    void givenAnySchedule_whenTheServerIsCutOff_thenBelievedNoLongerThanTheLeaderDoes(int reportsPerTimeout) {
        Random random = new Random(reportsPerTimeout);
        for (int run = 0; run < 40_000; run++) {
            Schedule schedule = new Schedule(random, TIMEOUT / reportsPerTimeout);

            long believed = schedule.run();

            assertThat(believed).as("run %s", run).isLessThanOrEqualTo(schedule.heard + TIMEOUT);
        }
    }

    /** One session and its server, until the server is cut off. */
    private static final class Schedule {

        private final Random random;
        private final long period;
        private final SessionProof proofs;
        private final long base;
        private final Freezes freezes;
        private final long cut;
        private long report;
        private long ping;
        private long look;
        private long request;
        private boolean news;

        /** When the leader has heard of it last. */
        private long heard;

        Schedule(Random random, long period) {
            this.random = random;
            this.period = period;
            this.proofs = random.nextBoolean() ? SessionProof.none() : SessionProof.ofNewSession(System.nanoTime());
            // Not before the session is there.
            this.base = System.nanoTime();
            this.freezes = new Freezes(base);
            this.cut = random.nextLong(1, 4 * TIMEOUT);
            this.report = random.nextLong(period);
            this.request = random.nextLong(3 * TIMEOUT);
        }

        /** Until when the session is believed to live. */
        long run() {
            long now = 0;
            while (now < cut) {
                if (random.nextInt(40) == 0) {
                    freeze(now + random.nextLong(TIMEOUT));
                }
                now = Math.min(Math.min(report, request), Math.min(ping, look));
                if (now < cut) {
                    happen(now);
                }
            }
            return proofs.endNanos(TIMEOUT) - base;
        }

        private void freeze(long until) {
            ping = Math.max(ping, until);
            look = Math.max(look, until);
            request = Math.max(request, until);
        }

        /** Of what comes at one moment, as after a freeze, the request first. */
        private void happen(long now) {
            if (now == request) {
                long onItsWay = random.nextBoolean() ? 0 : Math.min(now, random.nextLong(TIMEOUT / 2));
                say(now);
                proofs.add(base + now - onItsWay, base + now, TIMEOUT, freezes.longestNanos(base + now));
                request = now + random.nextLong(1, TIMEOUT / 2);
            } else if (now == report) {
                heard = news ? report : heard;
                news = false;
                report += period;
            } else if (now == ping) {
                say(now);
            } else {
                freezes.look(base + now, TIMEOUT);
                look = now + Freezes.lookNanos(TIMEOUT);
            }
        }

        private void say(long now) {
            news = true;
            ping = now + TIMEOUT / 3;
        }
    }
}
