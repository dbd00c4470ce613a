package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProofsTest {

    private static final long TIMEOUT = 12_000;

    @Test
    void givenNothingProven_thenNothingIsBelieved() {
        assertThat(Proofs.none().endNanos(TIMEOUT) - System.nanoTime()).isNegative();
    }

    /** A20: the leader may have heard of it a third of the timeout and a report before. */
    @Test
    void givenTheFirstProofAfterAPause_thenHalfOfTheTimeoutIsBelieved() {
        Proofs proofs = Proofs.none();
        long sent = System.nanoTime();

        proofs.add(sent, sent, TIMEOUT);

        assertThat(proofs.endNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT / 2);
        assertThat(proofs.dueNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT / 4);
    }

    /** Who holds has seen the end, or will before the next proof. */
    @Test
    void givenTheEndHasCome_whenAProofComesLate_thenItAddsNothing() {
        Proofs proofs = Proofs.ofNewSession();
        long end = proofs.endNanos(1);

        assertThat(proofs.addUnlessOver(System.nanoTime(), 1)).isFalse();

        assertThat(proofs.endNanos(1)).isEqualTo(end);
        assertThat(proofs.addUnlessOver(System.nanoTime(), TimeUnit.HOURS.toNanos(1)))
                .isTrue();
    }

    @Test
    void givenTwoProofsAQuarterApart_thenAWholeTimeoutFromTheFirst() {
        Proofs proofs = Proofs.none();
        long sent = System.nanoTime();
        proofs.add(sent, sent, TIMEOUT);

        proofs.add(sent + TIMEOUT / 4, sent + TIMEOUT / 4, TIMEOUT);

        assertThat(proofs.endNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT);
        assertThat(proofs.dueNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT / 2);
    }

    @Test
    void givenTwoProofsCloseToEachOther_thenTheSecondAddsWhatIsLikely() {
        Proofs proofs = Proofs.none();
        long sent = System.nanoTime();
        proofs.add(sent, sent, TIMEOUT);

        proofs.add(sent + TIMEOUT / 8, sent + TIMEOUT / 8, TIMEOUT);

        assertThat(proofs.endNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT / 8 + TIMEOUT / 2);
    }

    /** Both came to the server at one moment, and it has reported neither to the leader. */
    @Test
    void givenTheSecondOfThreeWasAnsweredLate_whenTheThirdWasSentAtOnceThen_thenTheSecondIsNoProofYet() {
        Proofs proofs = Proofs.none();
        long sent = System.nanoTime();
        proofs.add(sent, sent, TIMEOUT);
        long late = sent + TIMEOUT / 2;
        proofs.add(sent + TIMEOUT / 4, late, TIMEOUT);

        proofs.add(late, late, TIMEOUT);

        assertThat(proofs.endNanos(TIMEOUT) - sent).isEqualTo(TIMEOUT);
        assertThat(proofs.dueNanos(TIMEOUT)).isEqualTo(late + TIMEOUT / 4);
    }

    /**
     * A20: a server that reports to the leader which sessions it has heard of, with the connection between the two cut at
     * any moment; the client pings when it has nothing else to say, and its requests may be on their way for long.
     */
    @ParameterizedTest
    @ValueSource(ints = {6, 8, 15, 30})
    void givenAnySchedule_whenTheServerIsCutOff_thenBelievedNoLongerThanTheLeaderDoes(int reportsPerTimeout) {
        Random random = new Random(reportsPerTimeout);
        for (int run = 0; run < 20_000; run++) {
            Proofs proofs = random.nextBoolean() ? Proofs.none() : Proofs.ofNewSession();
            // Not before the session is there.
            long base = System.nanoTime();
            long period = TIMEOUT / reportsPerTimeout;
            long report = random.nextLong(period);
            long heard = 0;
            boolean news = false;
            long ping = 0;
            long now = 0;
            long cut = random.nextLong(1, 4 * TIMEOUT);
            boolean proves = false;
            while (now < cut) {
                if (report <= now) {
                    heard = news ? report : heard;
                    news = false;
                    report += period;
                    continue;
                }
                long next = Math.min(Math.min(report, ping + TIMEOUT / 3), now + random.nextLong(1, TIMEOUT / 3));
                now = Math.min(next, cut);
                if (now == report) {
                    continue;
                }
                proves = random.nextInt(3) > 0 || now == cut;
                if (now - ping >= TIMEOUT / 3 || proves) {
                    news = true;
                    ping = now;
                }
                if (proves) {
                    long onItsWay = random.nextBoolean() ? 0 : random.nextLong(TIMEOUT / 2);
                    proofs.add(base + now - onItsWay, base + now, TIMEOUT);
                }
            }

            assertThat(proofs.endNanos(TIMEOUT) - base).as("run %s", run).isLessThanOrEqualTo(heard + TIMEOUT);
        }
    }
}
