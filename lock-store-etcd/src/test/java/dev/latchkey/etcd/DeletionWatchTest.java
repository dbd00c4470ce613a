package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What a server tells a store, and who of those who wait hears of it. */
class DeletionWatchTest {

    private static final KeyRange ALL = KeyRange.below("latchkey/one/");
    private static final KeyRange WRITERS = KeyRange.below("latchkey/one/w/");
    private static final int TURNS = 2_000;
    private static final int MORE_THAN_IS_REMEMBERED = 1_001;

    private final DeletionWatch watch = new DeletionWatch(ALL);

    private static List<Event> deletion(String key, long revision) {
        return List.of(Event.newBuilder()
                .setKv(KeyValue.newBuilder()
                        .setKey(ByteString.copyFromUtf8("latchkey/one/" + key))
                        .setModRevision(revision))
                .build());
    }

    /** Each looks at a revision and waits for the deletion at the next one, which comes before it waits, or after, or meanwhile. */
    @Test
    void givenOneDeletionAfterTheOther_whenEachIsWaitedForByWhoeverLookedBefore_thenNoneIsMissed() throws Exception {
        watch.begin(0, 0);
        AtomicLong looked = new AtomicLong();
        AtomicLong told = new AtomicLong();
        BackgroundCall<Boolean> server = BackgroundCall.start(() -> {
            for (long revision = 1; revision <= TURNS; revision++) {
                while (looked.get() < revision - 1) {
                    Thread.onSpinWait();
                }
                watch.tell(deletion("w/owner", revision));
                told.set(revision);
            }
            return true;
        });

        for (long revision = 0; revision < TURNS; revision++) {
            looked.set(revision);
            DeletionWatch.Waiter waiter = watch.start(WRITERS, OptionalLong.of(revision + 1));
            assertThat(waiter.missesNothing()).isTrue();
            assertThat(waiter.done().get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            waiter.stop();
        }

        assertThat(server.result()).isTrue();
        assertThat(told).hasValue(TURNS);
    }

    @Test
    void givenTheServerHasBegunAtARevision_whenOneLookedBeforeThat_thenItHasToLookAgain() {
        DeletionWatch.Waiter early = watch.start(WRITERS, OptionalLong.of(6));
        assertThat(early.missesNothing()).isFalse();

        watch.begin(0, 5);

        assertThat(early.begun()).isCompleted();
        assertThat(early.missesNothing()).isTrue();
        assertThat(watch.start(WRITERS, OptionalLong.of(5)).missesNothing()).isFalse();
        assertThat(watch.start(WRITERS, OptionalLong.empty()).missesNothing()).isFalse();
    }

    @Test
    void givenMoreWasToldThanIsRemembered_whenOneLookedBeforeThat_thenItHasToLookAgain() {
        watch.begin(0, 0);
        watch.tell(deletion("w/first", 1));
        for (int revision = 2; revision <= MORE_THAN_IS_REMEMBERED; revision++) {
            watch.tell(deletion("q/w/other", revision));
        }

        DeletionWatch.Waiter waiter = watch.start(WRITERS, OptionalLong.of(1));

        assertThat(waiter.done()).isNotDone();
        assertThat(waiter.missesNothing()).isFalse();
        assertThat(watch.start(WRITERS, OptionalLong.of(2)).missesNothing()).isTrue();
    }

    @Test
    void givenDeletionsOfOtherKeysAndEarlierOnes_whenTold_thenItWaitsOn() {
        watch.begin(0, 0);
        DeletionWatch.Waiter waiter = watch.start(WRITERS, OptionalLong.of(7));

        watch.tell(deletion("r/owner", 8));
        watch.tell(deletion("w/owner", 6));
        assertThat(waiter.done()).isNotDone();
        watch.tell(deletion("w/owner", 7));

        assertThat(waiter.done()).isCompletedWithValue(true);
    }

    @Test
    void givenNothingIsToldAnyMore_whenOneWaitsOrBegins_thenItKnows() {
        DeletionWatch.Waiter before = watch.start(WRITERS, OptionalLong.of(1));

        watch.over();

        assertThat(before.done()).isCompletedWithValue(false);
        assertThat(watch.start(WRITERS, OptionalLong.of(1)).done()).isCompletedWithValue(false);
    }

    @Test
    void givenOneStillWaits_whenAnotherStops_thenItIsUsed() {
        DeletionWatch.Waiter first = watch.start(WRITERS, OptionalLong.empty());
        DeletionWatch.Waiter second = watch.start(WRITERS, OptionalLong.empty());

        first.stop();
        assertThat(watch.unusedNanos()).isZero();
        second.stop();

        assertThat(watch.unusedNanos()).isPositive();
    }
}
