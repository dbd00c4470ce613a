package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Whether a demotion may come to a member after a save decides whether what the member has is still exclusive. */
class SaveHistoryTest {

    private static final Key.Held HELD = new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(1));
    private static final Request DEMOTION = request(LockMode.SHARED);
    private static final Request RENEWAL = request(LockMode.EXCLUSIVE);

    private final SaveHistory history = new SaveHistory();

    @Test
    void givenADemotionThatHasEnded_whenSavedAfterIt_thenItCannotComeLater() {
        int demotion = history.begin(DEMOTION);
        int beside = history.begin(RENEWAL);
        history.end(DEMOTION);
        int after = history.begin(RENEWAL);

        assertThat(history.wasBesideDemotion(demotion)).isTrue();
        assertThat(history.wasBesideDemotion(beside)).isTrue();
        assertThat(history.wasBesideDemotion(after)).isFalse();
    }

    @Test
    void givenADemotionThatIsUnderWay_whenSavedBesideIt_thenItMayComeLater() {
        int before = history.begin(RENEWAL);
        assertThat(history.wasBesideDemotion(before)).isFalse();
        history.end(RENEWAL);

        history.demotionBegins();

        assertThat(history.wasBesideDemotion(before)).isTrue();
        history.demotionEnds();
        assertThat(history.wasBesideDemotion(history.begin(RENEWAL))).isFalse();
    }

    @Test
    void givenSaves_thenTheLastIsKnownAndTheirNumberOnceAllHaveEnded() {
        assertThat(history.countIfQuiet()).isZero();
        int first = history.begin(RENEWAL);
        int second = history.begin(RENEWAL);
        assertThat(history.isLast(first)).isFalse();
        assertThat(history.isLast(second)).isTrue();

        history.end(RENEWAL);
        assertThat(history.countIfQuiet()).isNegative();
        history.end(RENEWAL);

        assertThat(history.countIfQuiet()).isEqualTo(2);
    }

    private static Request request(LockMode mode) {
        return new Request(Key.of("x").claiming(Optional.of(HELD)), mode, Duration.ofSeconds(30), RetryIntent.ONCE);
    }
}
