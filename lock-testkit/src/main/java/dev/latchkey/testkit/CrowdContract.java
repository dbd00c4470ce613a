package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A crowd of threads of one process waits for one lock: each gets it, within the test's time, and nothing stays behind. */
public interface CrowdContract extends StoreContract {

    /** How many wait: {@code -Dlatchkey.crowd=10000} asks for what the stores were measured with. */
    int CROWD = Integer.getInteger("latchkey.crowd", 500);

    @Test
    @Tag("slow")
    default void givenACrowdWaits_whenTheHolderReleases_thenEachGetsIt(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        List<BackgroundCall<Boolean>> crowd = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            Lock waiter = fixture.lock();
            crowd.add(fixture.startWaiting(() -> waiter.acquire().release()));
        }

        assertThat(holder.release()).isTrue();

        for (BackgroundCall<Boolean> waiter : crowd) {
            assertThat(waiter.result()).isTrue();
        }
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }
}
