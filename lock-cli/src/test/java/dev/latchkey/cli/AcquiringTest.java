package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class AcquiringTest {

    /** The notifier may be faster than the thread that asked; whoever holds the lock then would never hear of it. */
    @Test
    void givenTheLossIsToldBeforeTheGrant_whenAcquired_thenTheLossIsStillToBeHeard() throws Exception {
        Inbox inbox = new Inbox();
        inbox.add(new Event.Lost(LossReason.EXPIRED));
        Want want = new Want(
                "null", "x", Duration.ofMinutes(1), LockMode.EXCLUSIVE, Duration.ZERO, Want.Keeping.NOT_REFRESHED);

        Answer answer = Acquiring.acquire(want, inbox);

        assertThat(answer).isInstanceOf(Answer.Acquired.class);
        assertThat(inbox.next(Duration.ZERO)).contains(new Event.Lost(LossReason.EXPIRED));
        ((Answer.Acquired) answer).undo();
    }

    @Test
    @Timeout(30)
    void givenAnErrorOfTheStore_whenAcquired_thenFailedAndADefectOnOneLine() throws Exception {
        Want want = new Want(
                BrokenStore.DSN, "x", Duration.ofMinutes(1), LockMode.EXCLUSIVE, Duration.ZERO, Want.Keeping.REFRESHED);

        Answer answer = Acquiring.acquire(want, new Inbox());

        assertThat(answer).isInstanceOf(Answer.Failed.class);
        RuntimeException failure = ((Answer.Failed) answer).failure();
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
