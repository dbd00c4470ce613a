package dev.latchkey.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.memcached.MarkerItem.Kind;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is decided from what was found, and what has to be written for it. */
class RulesTest {

    private static final Duration TTL = Duration.ofSeconds(20);

    /** Of the TTL, as it is stored. */
    private static final int SECONDS = 23;

    private static final int LONGER = 500;

    private final Key key = Key.of("x");
    private final Key other = Key.of("x");
    private final Key third = Key.of("x");

    @Test
    void givenFree_whenSavedExclusively_thenTheItemIsTheWriters() {
        Decision<Response> decision = save(ItemState.FREE, exclusive(key));

        assertThat(granted(decision).mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(granted(decision).lease().ttl()).isEqualTo(TTL);
        assertThat(granted(decision).lease().since()).hasValue(77);
        assertThat(writer(decision).owner()).isEqualTo(OwnerHash.of(key));
        assertThat(writer(decision).seconds()).isEqualTo(SECONDS);
        assertThat(decision.signs()).isEmpty();
    }

    @Test
    void givenFree_whenSavedShared_thenListedAndItsSignIsStored() {
        Decision<Response> decision = save(ItemState.FREE, shared(key));

        assertThat(granted(decision).mode()).isEqualTo(LockMode.SHARED);
        assertThat(decision.state()).contains(readers(Optional.empty(), reader(key, SECONDS)));
        assertThat(decision.signs()).isEqualTo(Map.of(sign(Kind.READS, key), SECONDS));
    }

    @Test
    void givenFree_whenAHoldIsClaimed_thenItHasExpired() {
        assertLost(save(ItemState.FREE, exclusive(holding(LockMode.EXCLUSIVE))), LossReason.EXPIRED);
        assertLost(refresh(ItemState.FREE, exclusive(key)), LossReason.EXPIRED);
    }

    @Test
    void givenAnotherWrites_whenSaved_thenConflictAndNothingWritten() {
        assertConflict(save(written(other), exclusive(key)));
        assertConflict(save(written(other), shared(key)));
    }

    @Test
    void givenAnotherWrites_whenAHoldIsClaimed_thenItIsTakenOver() {
        assertLost(save(written(other), exclusive(holding(LockMode.EXCLUSIVE))), LossReason.TAKEN_OVER);
        assertLost(refresh(written(other), shared(holding(LockMode.SHARED))), LossReason.TAKEN_OVER);
    }

    @Test
    void givenAnotherReads_whenSaved_thenSharedWithItAndNotExclusive() {
        ItemState read = readers(Optional.empty(), reader(other, LONGER));

        assertConflict(save(read, exclusive(key)));
        assertThat(save(read, shared(key)).state())
                .contains(readers(Optional.empty(), reader(other, LONGER), reader(key, SECONDS)));
    }

    @Test
    void givenAnotherWaitsToPromote_whenSavedShared_thenConflict() {
        assertConflict(save(readers(mark(other), reader(other, LONGER)), shared(key)));
    }

    @Test
    void givenAsManyReadersAsAnItemTakes_whenOneMoreComes_thenConflict() {
        List<ItemState.Reader> most = IntStream.range(0, ItemState.MOST_READERS)
                .mapToObj(i -> reader(Key.of("x"), LONGER))
                .toList();

        assertConflict(save(new ItemState(Optional.empty(), most, Optional.empty()), shared(key)));
        granted(save(new ItemState(Optional.empty(), most.subList(1, most.size()), Optional.empty()), shared(key)));
    }

    @Test
    void givenItWrites_whenSavedAgain_thenItIsStoredForNoShorter() {
        assertThat(writer(save(written(key), exclusive(key))).seconds()).isEqualTo(LONGER);
        assertThat(writer(save(written(key), exclusive(key).with(LeaseChange.SET)))
                        .seconds())
                .isEqualTo(SECONDS);
        assertThat(writer(refresh(written(key), exclusive(key))).seconds()).isEqualTo(LONGER);
    }

    @Test
    void givenItWrites_whenSavedSharedWithoutClaimingThat_thenItWritesStill() {
        assertThat(granted(save(written(key), shared(key))).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    void givenItWrites_whenDemoted_thenItReads() {
        Decision<Response> decision = save(written(key), shared(holding(LockMode.EXCLUSIVE)));

        assertThat(granted(decision).mode()).isEqualTo(LockMode.SHARED);
        assertThat(decision.state()).contains(readers(Optional.empty(), reader(key, LONGER)));
        assertThat(decision.signs()).isEqualTo(Map.of(sign(Kind.READS, key), LONGER));
    }

    @Test
    void givenItWasDemoted_whenTheDemotionIsRepeated_thenGranted() {
        ItemState read = readers(Optional.empty(), reader(key, LONGER));

        assertThat(granted(save(read, shared(holding(LockMode.EXCLUSIVE)))).mode())
                .isEqualTo(LockMode.SHARED);
    }

    @Test
    void givenItReads_whenItClaimsToWrite_thenThatWasReleasedElsewhere() {
        ItemState read = readers(Optional.empty(), reader(key, LONGER));

        assertLost(save(read, exclusive(holding(LockMode.EXCLUSIVE))), LossReason.RELEASED_ELSEWHERE);
        assertLost(refresh(read, exclusive(holding(LockMode.EXCLUSIVE))), LossReason.RELEASED_ELSEWHERE);
    }

    @Test
    void givenItWrites_whenItClaimsToRead_thenTheRefreshKeepsTheMode() {
        assertThat(granted(refresh(written(key), shared(holding(LockMode.SHARED))))
                        .mode())
                .isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    void givenItReadsAlone_whenPromoted_thenItWritesForNoShorter() {
        Decision<Response> decision =
                save(readers(mark(key), reader(key, LONGER)), exclusive(holding(LockMode.SHARED)));

        assertThat(granted(decision).mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(writer(decision).seconds()).isEqualTo(LONGER);
    }

    /** The listing has the place of one that comes again at its end, once. */
    @Test
    void givenItReadsWithOthers_whenSavedAgain_thenListedOnce() {
        ItemState read = readers(Optional.empty(), reader(key, 1), reader(other, LONGER));

        assertThat(save(read, shared(key)).state())
                .contains(readers(Optional.empty(), reader(other, LONGER), reader(key, SECONDS)));
    }

    @Test
    void givenAnotherWaitsToPromote_whenAReaderIsSavedOrRefreshed_thenTheMarkStays() {
        ItemState read = readers(mark(other), reader(other, LONGER), reader(key, LONGER));

        assertThat(save(read, shared(key)).state()).flatMap(ItemState::promoter).isEqualTo(mark(other));
        assertThat(refresh(read, shared(key)).state())
                .flatMap(ItemState::promoter)
                .isEqualTo(mark(other));
    }

    /** A save that shares says that it waits no longer; a refresh does not say that. */
    @Test
    void givenItWaitsToPromote_whenSavedSharedOrRefreshed_thenOnlyTheSaveTakesTheMarkAway() {
        ItemState read = readers(mark(key), reader(other, LONGER), reader(key, LONGER));

        assertThat(save(read, shared(key)).state()).flatMap(ItemState::promoter).isEmpty();
        assertThat(refresh(read, shared(key)).state())
                .flatMap(ItemState::promoter)
                .isEqualTo(mark(key));
    }

    @Test
    void givenAnotherReads_whenPromotedAgainAndAgain_thenAMarkKeepsNewReadersOut() {
        ItemState read = readers(Optional.empty(), reader(key, LONGER), reader(other, LONGER));

        Decision<Response> first = save(read, exclusive(key).with(RetryIntent.AGAIN));

        assertThat(first.answer()).isEqualTo(Response.Conflicted.NO_HINT);
        assertThat(first.state()).contains(read.withPromoter(mark(key)));
        assertThat(first.signs()).isEqualTo(Map.of(sign(Kind.PROMOTES, key), 5));
        Decision<Response> second =
                save(first.state().orElseThrow(), exclusive(key).with(RetryIntent.AGAIN));
        assertThat(second.answer()).isEqualTo(Response.Conflicted.NO_HINT);
        assertThat(second.state()).isEmpty();
        assertThat(second.signs()).isEqualTo(first.signs());
    }

    @Test
    void givenAnotherReads_whenPromotedOnce_thenConflictAndAMarkIsTakenAway() {
        ItemState read = readers(Optional.empty(), reader(key, LONGER), reader(other, LONGER));

        assertConflict(save(read, exclusive(key)));
        assertThat(save(read.withPromoter(mark(key)), exclusive(key)).state()).contains(read);
    }

    @Test
    void givenAnotherWaitsToPromote_whenPromoted_thenTheSecondIsRefused() {
        ItemState read = readers(mark(other), reader(key, LONGER), reader(other, LONGER));

        Decision<Response> decision = save(read, exclusive(key).with(RetryIntent.AGAIN));

        assertThat(decision.answer()).isInstanceOf(Response.Refused.class);
        assertThat(decision.state()).isEmpty();
        assertThat(decision.signs()).isEmpty();
        assertConflict(save(read, exclusive(key)));
    }

    @Test
    void givenItWrites_whenDeleted_thenFree() {
        Decision<Boolean> decision = Rules.delete(written(key), key);

        assertThat(decision.answer()).isTrue();
        assertThat(decision.state()).contains(ItemState.FREE);
        assertThat(decision.obsolete()).isEmpty();
    }

    @Test
    void givenOthersHold_whenDeleted_thenItWasNotHeld() {
        for (ItemState state : List.of(
                ItemState.FREE, written(other), readers(mark(other), reader(other, LONGER), reader(third, LONGER)))) {
            Decision<Boolean> decision = Rules.delete(state, key);

            assertThat(decision.answer()).isFalse();
            assertThat(decision.state()).isEmpty();
        }
    }

    @Test
    void givenItReadsWithOthers_whenDeleted_thenTheyStayAndItsSignIsObsolete() {
        ItemState read = readers(mark(other), reader(key, LONGER), reader(other, LONGER));

        Decision<Boolean> decision = Rules.delete(read, key);

        assertThat(decision.answer()).isTrue();
        assertThat(decision.state()).contains(readers(mark(other), reader(other, LONGER)));
        assertThat(decision.obsolete()).isEqualTo(Set.of(sign(Kind.READS, key)));
    }

    @Test
    void givenItWaitsToPromote_whenDeleted_thenItsMarkGoesWithIt() {
        ItemState read = readers(mark(key), reader(key, LONGER), reader(other, LONGER));

        assertThat(Rules.delete(read, key).state()).contains(readers(Optional.empty(), reader(other, LONGER)));
        assertThat(Rules.delete(readers(mark(key), reader(key, LONGER)), key).state())
                .contains(ItemState.FREE);
    }

    private static Decision<Response> save(ItemState live, Request request) {
        return new Rules(live, request, 77, ServerTime.UNKNOWN).save();
    }

    private static Decision<Response> refresh(ItemState live, Request request) {
        return new Rules(live, request, 77, ServerTime.UNKNOWN).refresh();
    }

    private static void assertConflict(Decision<Response> decision) {
        assertThat(decision.answer()).isEqualTo(Response.Conflicted.NO_HINT);
        assertThat(decision.state()).isEmpty();
        assertThat(decision.signs()).isEmpty();
    }

    private static void assertLost(Decision<Response> decision, LossReason reason) {
        assertThat(decision.answer()).isEqualTo(new Response.Lost(reason));
        assertThat(decision.state()).isEmpty();
    }

    private static Response.Granted granted(Decision<Response> decision) {
        assertThat(decision.answer()).isInstanceOf(Response.Granted.class);
        return (Response.Granted) decision.answer();
    }

    private static ItemState.Writer writer(Decision<Response> decision) {
        return decision.state().flatMap(ItemState::writer).orElseThrow();
    }

    private static ItemState written(Key writer) {
        HoldRecord holding = new HoldRecord(LeaseEnd.UNKNOWN, "1@host");
        return ItemState.heldBy(new ItemState.Writer(OwnerHash.of(writer), LONGER, holding));
    }

    private static ItemState readers(Optional<OwnerHash> promoter, ItemState.Reader... readers) {
        return new ItemState(Optional.empty(), List.of(readers), promoter);
    }

    private static ItemState.Reader reader(Key reader, int seconds) {
        return new ItemState.Reader(OwnerHash.of(reader), seconds);
    }

    private static Optional<OwnerHash> mark(Key promoter) {
        return Optional.of(OwnerHash.of(promoter));
    }

    private static MarkerItem sign(Kind kind, Key owner) {
        return new MarkerItem(kind, OwnerHash.of(owner));
    }

    private Key holding(LockMode mode) {
        return key.claiming(Optional.of(new Key.Held(mode, OptionalLong.empty())));
    }

    private static Request exclusive(Key key) {
        return new Request(key, LockMode.EXCLUSIVE, TTL, RetryIntent.ONCE);
    }

    private static Request shared(Key key) {
        return new Request(key, LockMode.SHARED, TTL, RetryIntent.ONCE);
    }
}
