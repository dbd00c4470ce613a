package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AcquireTaskTest {

    /** The notifier may be faster than the thread that asked; whoever holds the lock then would never hear of it. */
    @Test
    void givenTheLossIsToldBeforeTheGrant_whenAcquired_thenTheLossIsStillToBeHeard() throws Exception {
        Event ending = Event.LeaseEnding.in(Duration.ofSeconds(1));
        Event lost = new Event.Lost(LossReason.EXPIRED);
        Inbox inbox = new Inbox();
        inbox.add(lost);
        inbox.add(ending);
        LockTarget want = new LockTarget(
                "null",
                "x",
                Duration.ofMinutes(1),
                LockMode.EXCLUSIVE,
                Duration.ZERO,
                LockTarget.Keeping.NOT_REFRESHED);

        AcquireAnswer answer = AcquireTask.acquire(want, inbox);

        assertThat(answer).isInstanceOf(AcquireAnswer.Acquired.class);
        assertThat(inbox.next(Duration.ZERO)).contains(ending);
        assertThat(inbox.next(Duration.ZERO)).contains(lost);
        ((AcquireAnswer.Acquired) answer).undo();
    }

    @Test
    void givenAnErrorOfTheStore_whenAcquired_thenFailedAndADefectOnOneLine() throws Exception {
        LockTarget want = new LockTarget(
                BrokenStore.DSN,
                "x",
                Duration.ofMinutes(1),
                LockMode.EXCLUSIVE,
                Duration.ZERO,
                LockTarget.Keeping.REFRESHED);

        AcquireAnswer answer = AcquireTask.acquire(want, new Inbox());

        assertThat(answer).isInstanceOf(AcquireAnswer.Failed.class);
        RuntimeException failure = ((AcquireAnswer.Failed) answer).failure();
        assertThat(Failures.exitCode(failure)).isEqualTo(ExitCode.SOFTWARE);
        assertThat(Failures.message(failure)).contains(BrokenStore.MISSING).hasLineCount(1);
    }

    /** A store whose classes do not fit together. */
    public static final class BrokenStore implements StoreProvider {

        static final String DSN = "broken";
        static final String MISSING = "dev.example.Missing";

        @Override
        public Set<String> schemes() {
            return Set.of(DSN);
        }

        @Override
        public PersistingStore open(String dsn) {
            throw new NoClassDefFoundError(MISSING + "\n(a second line)");
        }
    }
}
