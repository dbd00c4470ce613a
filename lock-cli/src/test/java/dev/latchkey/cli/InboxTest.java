package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class InboxTest {

    private static final long SOON = Duration.ofMillis(900).toNanos();
    private static final long LATER = Duration.ofMillis(1_100).toNanos();

    private final Inbox events = new Inbox();

    @Test
    void givenSignalsWait_whenTheLockIsLost_thenThatIsNext() throws Exception {
        events.add(signal(UnixSignal.USR1, 1));
        events.add(signal(UnixSignal.HUP, 2));
        events.add(new Event.Lost(LossReason.EXPIRED));

        assertThat(events.next()).isEqualTo(new Event.Lost(LossReason.EXPIRED));
        assertThat(events.next()).isEqualTo(signal(UnixSignal.USR1, 1));
        assertThat(events.next()).isEqualTo(signal(UnixSignal.HUP, 2));
    }

    /** Each signal takes time to be handled, and the command is to be killed before its lease ends. */
    @Test
    void givenSignalsWait_whenTheLeaseIsAboutToEnd_thenThatIsNext() throws Exception {
        events.add(signal(UnixSignal.USR1, 1));
        events.add(new Event.LeaseEnding(7));

        assertThat(events.next()).isEqualTo(new Event.LeaseEnding(7));
        assertThat(events.next()).isEqualTo(signal(UnixSignal.USR1, 1));
    }

    /** As in the kernel, which keeps one of each kind for a process. */
    @Test
    void givenASignalWaits_whenItComesAgain_thenItIsOne() throws Exception {
        events.add(signal(UnixSignal.USR1, 1));
        events.add(signal(UnixSignal.HUP, 2));
        events.add(signal(UnixSignal.USR1, 3));

        assertThat(events.next()).isEqualTo(signal(UnixSignal.USR1, 1));
        assertThat(events.next()).isEqualTo(signal(UnixSignal.HUP, 2));
        assertThat(events.next(Duration.ZERO)).isEqualTo(Optional.empty());
    }

    /** A second TERM means something else than the first. */
    @Test
    void givenATermWaits_whenItComesAgain_thenThereAreTwo() throws Exception {
        events.add(signal(UnixSignal.TERM, 1));
        events.add(signal(UnixSignal.TERM, LATER));

        assertThat(events.next()).isEqualTo(signal(UnixSignal.TERM, 1));
        assertThat(events.next()).isEqualTo(signal(UnixSignal.TERM, LATER));
    }

    /** As timeout(1) sends it: to the process, and then to its group. */
    @Test
    void givenATermWaits_whenItComesAgainSoon_thenItIsOne() throws Exception {
        events.add(signal(UnixSignal.TERM, 1));
        events.add(signal(UnixSignal.TERM, SOON));

        assertThat(events.next()).isEqualTo(signal(UnixSignal.TERM, 1));
        assertThat(events.next(Duration.ZERO)).isEqualTo(Optional.empty());
    }

    private static Event signal(UnixSignal signal, long nanoTime) {
        return new Event.Signalled(signal, nanoTime);
    }
}
