package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;

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
}
