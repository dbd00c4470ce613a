package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What of a hold counts, after saves that reached some members and demotions that may have reached others. */
class HoldPartsTest {

    private static final Lease LEASE = Lease.timed(0, Duration.ofSeconds(30));
    private static final Key.Held EXCLUSIVE = new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(7));

    private final List<Member> members = List.of(member(1), member(2), member(3));
    private final Member one = members.get(0);
    private final Member two = members.get(1);
    private final Member three = members.get(2);
    private final Quorum quorum = new Quorum(members, new ConsensusStrategy(), Duration.ofSeconds(1));
    private final Key key = Key.of("x");
    private final HoldParts parts = new HoldParts(quorum, key);

    @Test
    void givenAPartOfBeforeThePromotion_whenCounted_thenItMayBeASharedOneAndDoesNotCount() {
        parts.put(1, Map.of(one, shared(), two, shared(), three, shared()));
        share(parts, Map.of(one, shared(), two, shared(), three, shared()));

        parts.put(2, Map.of(one, exclusive()));
        exclude(parts, 2);

        assertThat(areEnough(Optional.empty())).isFalse();
        assertThat(parts.mode()).contains(LockMode.EXCLUSIVE);
        assertThat(parts.fencingToken()).hasValue(7);
    }

    /** An answer of an earlier save that comes late does not make the part older. */
    @Test
    void givenAPartConfirmedByALaterSave_whenAnEarlierAnswerComes_thenItCountsStill() {
        parts.put(2, Map.of(one, exclusive(), two, exclusive()));
        exclude(parts, 2);
        parts.put(1, Map.of(one, exclusive()));

        assertThat(areEnough(Optional.empty())).isTrue();
    }

    @Test
    void givenAnExclusiveHoldIsRenewed_whenCounted_thenItIsExclusiveSinceItWas() {
        parts.put(1, Map.of(one, exclusive(), two, exclusive()));
        exclude(parts, 1);

        parts.put(2, Map.of(one, exclusive()));
        exclude(parts, 2);

        assertThat(areEnough(Optional.empty())).isTrue();
    }

    @Test
    void givenAMemberHasOnlyASharedPart_whenCounted_thenItKeepsNoReaderAway() {
        parts.put(1, Map.of(one, exclusive(), three, shared()));
        exclude(parts, 1);

        assertThat(areEnough(Optional.empty())).isFalse();
        assertThat(parts.of(three)).contains(new Key.Held(LockMode.SHARED, OptionalLong.empty()));
    }

    @Test
    void givenAHoldIsToldToLastLonger_whenCounted_thenPartsThatEndSoonerDoNot() {
        parts.put(1, Map.of(one, exclusive(), two, exclusive()));
        exclude(parts, 1);

        assertThat(areEnough(Optional.of(LEASE))).isTrue();
        assertThat(areEnough(Optional.of(Lease.timed(1, Duration.ofSeconds(30)))))
                .isFalse();
    }

    /** A second Lock over the key asks for less than is held. */
    @Test
    void givenAQuorumHoldsExclusively_whenSharedIsAskedFor_thenItStaysExclusive() {
        parts.put(1, Map.of(one, exclusive(), two, exclusive(), three, exclusive()));
        exclude(parts, 1);

        share(parts, Map.of(one, exclusive(), two, exclusive(), three, shared()));

        assertThat(parts.mode()).contains(LockMode.EXCLUSIVE);
        assertThat(parts.fencingToken()).hasValue(7);
    }

    @Test
    void givenMostMembersSayShared_whenSharedIsAskedFor_thenItIsSharedAndOthersMayStillBeAskedToDemote() {
        parts.put(1, Map.of(one, exclusive(), two, exclusive(), three, exclusive()));
        exclude(parts, 1);

        share(parts, Map.of(one, shared(), two, shared()));

        assertThat(parts.mode()).contains(LockMode.SHARED);
        assertThat(parts.fencingToken()).isEmpty();
        assertThat(parts.of(three)).isEmpty();
        assertThat(parts.mayBeDemoted(three)).isTrue();
    }

    @Test
    void givenASharedHold_whenAMemberHasAnExclusivePart_thenThatOneMayBeDemoted() {
        parts.put(1, Map.of(one, shared(), two, exclusive()));
        share(parts, Map.of(one, shared()));

        assertThat(parts.mayBeDemoted(one)).isFalse();
        assertThat(parts.mayBeDemoted(two)).isTrue();
        assertThat(parts.mayBeDemoted(three)).isFalse();
    }

    @Test
    void givenAHoldThatWasElsewhere_whenShared_thenAMemberThatWasNotSeenMayBeDemoted() {
        HoldParts received = new HoldParts(quorum, key.claiming(Optional.of(EXCLUSIVE)));
        share(received, Map.of(one, shared()));

        assertThat(received.mayBeDemoted(three)).isTrue();
        exclude(received, 1);
        assertThat(received.mayBeDemoted(three)).isFalse();
    }

    @Test
    void givenATokenIsRaised_thenThePartHasItAndAMemberWithoutAPartHasNone() {
        parts.put(1, Map.of(one, exclusive()));

        parts.raised(one, 9);
        parts.raised(two, 9);

        assertThat(parts.of(one)).contains(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(9)));
        assertThat(parts.of(two)).isEmpty();
        parts.remove(one);
        assertThat(parts.of(one)).isEmpty();
    }

    @Test
    void givenAnExclusiveClaim_thenOnlyTheHoldWithItsTokenFits() {
        exclude(parts, 1);

        assertThat(parts.fit(Optional.of(EXCLUSIVE))).isTrue();
        assertThat(parts.fit(Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(8)))))
                .isFalse();
        assertThat(parts.fit(Optional.of(new Key.Held(LockMode.SHARED, OptionalLong.empty()))))
                .isTrue();
        assertThat(parts.fit(Optional.empty())).isTrue();
        parts.asked(demotion());
        assertThat(parts.fit(Optional.of(EXCLUSIVE))).isFalse();
    }

    @Test
    void givenADemotion_whenItIsRepeated_thenItFitsWhatItHasGivenUp() {
        exclude(parts, 1);

        parts.asked(demotion());

        assertThat(parts.mode()).contains(LockMode.SHARED);
        assertThat(parts.fit(demotion())).isTrue();
        exclude(parts, 2);
        parts.asked(demotion());
        assertThat(parts.fit(request(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(8)))))
                .as("of another hold")
                .isFalse();
    }

    private Request demotion() {
        return request(EXCLUSIVE);
    }

    private Request request(Key.Held claimed) {
        return new Request(
                key.claiming(Optional.of(claimed)), LockMode.SHARED, Duration.ofSeconds(30), RetryIntent.ONCE);
    }

    private boolean areEnough(Optional<Lease> told) {
        return parts.areEnough(told, lease -> true);
    }

    private static void exclude(HoldParts of, int save) {
        of.become(LockMode.EXCLUSIVE, OptionalLong.of(7), save, Map.of());
    }

    private static void share(HoldParts of, Map<Member, Response.Granted> granted) {
        of.become(LockMode.SHARED, OptionalLong.empty(), 1, granted);
    }

    private static Member member(int number) {
        return new Member(number, new InMemoryStore());
    }

    private static Response.Granted exclusive() {
        return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(7), LEASE);
    }

    private static Response.Granted shared() {
        return new Response.Granted(LockMode.SHARED, OptionalLong.empty(), LEASE);
    }
}
