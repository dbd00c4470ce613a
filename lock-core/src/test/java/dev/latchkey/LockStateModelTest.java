package dev.latchkey;

import dev.latchkey.Effect.Loss;
import dev.latchkey.Effect.ReleasedHold;
import dev.latchkey.Effect.Step;
import dev.latchkey.Hold.PendingRequest;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** A hold ends once, whichever transitions cross: it is lost, released or transferred, and nothing that comes late revives it. */
@Tag("model")
class LockStateModelTest {

    @TestFactory
    Stream<DynamicTest> givenTwoTransitions_thenTheHoldEndsOnceOrIsStillHeld() {
        return new Interleavings<>(100, () -> new Held(), held -> held.check())
                .ofPairs(Map.of(
                        "pending and granted, shared", held -> held.demote(),
                        "pending and granted, exclusive", held -> held.acquireAgain(),
                        "pending and confirmed", held -> held.refresh(),
                        "pending and undone", held -> held.demoteInVain(),
                        "lose", held -> held.lose(),
                        "look", held -> held.look(),
                        "letGo", held -> held.release(),
                        "transferKey", held -> held.transfer()));
    }

    /** A state that holds the lock exclusively. */
    private static final class Held {

        private final LockState state = new LockState(
                Key.of("x"),
                false,
                new LockSettings(
                        Duration.ofMinutes(5),
                        LockSettings.RenewalPolicy.BY_THE_HOLDER,
                        LockSettings.AutoRelease.OFF,
                        LockSettings.OnLoss.GOES_ON,
                        Duration.ZERO,
                        LockSettings.LONGEST,
                        Optional.empty(),
                        List.of(),
                        LockSettings.Resources.ONE,
                        Duration.ZERO));

        private final HoldTracker tracker = state.granted(state.begin().result(), hold(LockMode.EXCLUSIVE))
                .result()
                .orElseThrow();
        private final AtomicInteger ends = new AtomicInteger();

        private static Hold hold(LockMode mode) {
            OptionalLong token = mode == LockMode.EXCLUSIVE ? OptionalLong.of(1) : OptionalLong.empty();
            return Hold.of(new Response.Granted(mode, token, Lease.endless()));
        }

        void demote() {
            PendingRequest pending = count(state.begin(LockMode.SHARED));
            state.unanswered().answered(pending);
            grant(pending, LockMode.SHARED);
        }

        void demoteInVain() {
            state.undone(count(state.begin(LockMode.SHARED)));
        }

        void acquireAgain() {
            grant(count(state.begin(LockMode.EXCLUSIVE)), LockMode.EXCLUSIVE);
        }

        /** What claims nothing would begin another hold. */
        private void grant(PendingRequest pending, LockMode mode) {
            if (!pending.isFresh()) {
                Object unused = count(state.granted(pending, hold(mode)));
            }
        }

        void refresh() {
            PendingRequest pending = count(state.begin());
            Object unused = count(state.confirmed(pending, hold(LockMode.EXCLUSIVE)));
        }

        void lose() {
            Object unused = count(state.lose(tracker, LossReason.SESSION_LOST, null));
        }

        void look() {
            Object unused = count(state.look());
        }

        void release() {
            Object unused = count(state.letGo());
        }

        void transfer() {
            Object unused = count(state.transferKey());
        }

        private <T> T count(Step<T> step) {
            boolean isLost = step.effect() instanceof Loss loss && loss.tracker() == tracker;
            boolean isReleased = step.effect() instanceof ReleasedHold released
                    && released.held() != null
                    && released.tracker() == tracker;
            if (isLost || isReleased) {
                ends.incrementAndGet();
            }
            return step.result();
        }

        void check() {
            int expected = state.tracker().isPresent() ? 0 : 1;
            if (ends.get() != expected
                    || state.hold().isPresent() != state.tracker().isPresent()) {
                throw new IllegalStateException("ended " + ends + " times, and holds " + state.hold());
            }
        }
    }
}
