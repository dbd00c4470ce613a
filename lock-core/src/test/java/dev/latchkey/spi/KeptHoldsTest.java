package dev.latchkey.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KeptHoldsTest {

    private static final Duration TTL = Duration.ofMinutes(1);
    private static final int MANY = 10_000;
    private static final int REMEMBERED = 1_000;
    private static final Optional<String> NOBODY = Optional.empty();

    private final KeptHolds kept = new KeptHolds();

    private static Request request(Key key, Duration sticky) {
        return new Request(key, LockMode.EXCLUSIVE, TTL, RetryIntent.ONCE, LeaseChange.EXTEND, "", sticky);
    }

    private static Response.Granted granted(Lease lease) {
        return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(1), lease);
    }

    private Lease watch(Key key, Lease lease) {
        return ((Response.Granted) kept.watch(request(key, TTL), granted(lease))).lease();
    }

    private Lease watch(Key key) {
        return watch(key, Lease.timed(System.nanoTime(), TTL));
    }

    private static boolean isRecalled(Lease lease) {
        return isDone(lease.recalled().orElseThrow());
    }

    private static boolean isDone(CompletionStage<?> stage) {
        return stage.toCompletableFuture().isDone();
    }

    @Test
    void givenHoldsOfTwoResources_whenOneIsRecalled_thenAllOfThatAndNoOtherAre() {
        Lease first = watch(Key.of("a"));
        Lease second = watch(Key.of("a"));
        Lease other = watch(Key.of("b"));

        kept.recall("a");

        assertThat(isRecalled(first)).isTrue();
        assertThat(isRecalled(second)).isTrue();
        assertThat(isRecalled(other)).isFalse();
    }

    @Test
    void givenARequestOnItsWay_whenTheRecallComesBeforeTheAnswer_thenTheHoldIsRecalled() {
        long sent = System.nanoTime();
        kept.recall("a");

        assertThat(isRecalled(watch(Key.of("a"), Lease.timed(sent, TTL)))).isTrue();
        assertThat(isRecalled(watch(Key.of("b"), Lease.timed(sent, TTL)))).isFalse();
    }

    /** Of so many the last recalls are remembered, and one that was recalled long before as well is among these. */
    @Test
    void givenARequestOnItsWay_whenItIsRecalledAgainAfterManyOthers_thenTheHoldIsRecalled() {
        kept.recall("a");
        IntStream.range(1, REMEMBERED).forEach(i -> kept.recall("other-" + i));
        long sent = System.nanoTime();
        kept.recall("a");
        kept.recall("one more");

        assertThat(isRecalled(watch(Key.of("a"), Lease.timed(sent, TTL)))).isTrue();
    }

    @Test
    void givenRecalledBefore_whenRequestedAgain_thenTheNewHoldIsNot() {
        kept.recall("a");

        assertThat(isRecalled(watch(Key.of("a"), Lease.timed(System.nanoTime() + 1, TTL))))
                .isFalse();
    }

    @Test
    void givenAllRecalled_whenAnAnswerComesThatWasAskedForBefore_thenItIsRecalledAsWell() {
        Lease before = watch(Key.of("a"));
        long sent = System.nanoTime();

        kept.recallAll();

        assertThat(isRecalled(before)).isTrue();
        assertThat(isRecalled(watch(Key.of("b"), Lease.timed(sent, TTL)))).isTrue();
        assertThat(isRecalled(watch(Key.of("c"), Lease.timed(System.nanoTime() + 1, TTL))))
                .isFalse();
    }

    @Test
    void givenAnOrdinaryHold_whenAnswered_thenItHasNothingToRecall() {
        Response answer = kept.watch(request(Key.of("a"), Duration.ZERO), granted(Lease.timed(System.nanoTime(), TTL)));

        assertThat(((Response.Granted) answer).lease().recalled()).isEmpty();
        assertThat(kept.size()).isZero();
    }

    @Test
    void givenRenewed_whenRecalled_thenBothAnswersHaveTheSameRecall() {
        Key key = Key.of("a");
        Lease first = watch(key);

        Response renewed = kept.watch(request(key, Duration.ZERO), granted(Lease.timed(System.nanoTime(), TTL)));

        assertThat(((Response.Granted) renewed).lease().recalled()).isEqualTo(first.recalled());
        assertThat(kept.size()).isOne();
    }

    @Test
    void givenTheSessionOfAHoldEnds_whenWatched_thenItIsLost() {
        CompletableFuture<LossReason> lost = new CompletableFuture<>();
        Key key = Key.of("a");
        long sent = System.nanoTime();
        Lease lease = kept.watch(request(key, TTL), granted(Lease.session(lost)), sent)
                .lease();

        lost.complete(LossReason.SESSION_LOST);

        assertThat(lease.lost().map(stage -> stage.toCompletableFuture().join()))
                .isEqualTo(Optional.of(LossReason.SESSION_LOST));
        assertThat(isRecalled(lease)).isFalse();
    }

    @Test
    void givenEndedByForce_whenItsTokensAreOfTheHold_thenItIsLost() {
        Lease lease = watch(Key.of("a"));

        kept.forced("a", 1 + request(Key.of("a"), TTL).reservedTokens() + 1, NOBODY);
        kept.forced("b", 1, NOBODY);
        assertThat(isDone(lease.lost().orElseThrow())).isFalse();
        kept.forced("a", 2, NOBODY);

        assertThat(lease.lost().map(stage -> stage.toCompletableFuture().join()))
                .isEqualTo(Optional.of(LossReason.FORCED));
    }

    @Test
    void givenMessagesWithOtherNames_whenRecalledByOne_thenTheHoldOfThatResourceIs() {
        KeptHolds hashed = new KeptHolds(name -> name + "#");
        Response answer = hashed.watch(request(Key.of("a"), TTL), granted(Lease.timed(System.nanoTime(), TTL)));
        Lease lease = ((Response.Granted) answer).lease();

        hashed.recall("a");
        assertThat(isRecalled(lease)).isFalse();
        hashed.recall("a#");

        assertThat(isRecalled(lease)).isTrue();
    }

    @Test
    void givenReleased_whenRecalled_thenNobodyIs() {
        Key key = Key.of("a");
        Lease lease = watch(key);

        assertThat(kept.released(key)).isTrue();
        assertThat(kept.released(key)).isFalse();
        kept.recall("a");

        assertThat(isRecalled(lease)).isFalse();
        assertThat(kept.size()).isZero();
    }

    @Test
    void givenHoldsThatEndByTime_whenThereAreMany_thenTheyAreForgotten() {
        Key lasting = Key.of("lasting");
        Lease lease = watch(lasting);
        for (int i = 0; i < MANY; i++) {
            watch(Key.of("a" + i % 100), Lease.timed(System.nanoTime() - TTL.toNanos(), Duration.ofMillis(1)));
        }

        kept.recall("lasting");

        assertThat(kept.size()).isLessThan(MANY / 4);
        assertThat(isRecalled(lease)).isTrue();
    }

    /** The message was about another hold that had such a token: that of a table with the same name, say. */
    @Test
    void givenAHoldThatIsThereStill_whenAnEndByForceIsToldOfOneWithItsToken_thenOnlyTheOthersAreLost() {
        Key holder = Key.of("a");
        Lease held = watch(holder);
        Lease gone = watch(Key.of("a"));

        kept.forced("a", 1, Optional.of(holder.token()));

        assertThat(isDone(held.lost().orElseThrow())).isFalse();
        assertThat(isDone(gone.lost().orElseThrow())).isTrue();
    }
}
