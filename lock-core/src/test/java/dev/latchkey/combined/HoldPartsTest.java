package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
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
        parts.share(Map.of(one, shared(), two, shared(), three, shared()));

        parts.put(2, Map.of(one, exclusive(), two, exclusive()));
        parts.exclude(2, OptionalLong.of(7));

        assertThat(parts.lasting(Optional.empty())).hasSize(2);
        assertThat(parts.mode()).contains(LockMode.EXCLUSIVE);
        assertThat(parts.fencingToken()).hasValue(7);
    }

    /** An answer of an earlier save that comes late does not make the part older. */
    @Test
    void givenAPartConfirmedByALaterSave_whenAnEarlierAnswerComes_thenItCountsStill() {
        parts.put(2, Map.of(one, exclusive()));
        parts.exclude(2, OptionalLong.of(7));
        parts.put(1, Map.of(one, exclusive()));

        assertThat(parts.lasting(Optional.empty())).hasSize(1);
    }

    @Test
    void givenAnExclusiveHoldIsRenewed_whenCounted_thenItIsExclusiveSinceItWas() {
        parts.put(1, Map.of(one, exclusive(), two, exclusive()));
        parts.exclude(1, OptionalLong.of(7));

        parts.put(2, Map.of(one, exclusive()));
        parts.exclude(2, OptionalLong.of(7));

        assertThat(parts.lasting(Optional.empty())).hasSize(2);
    }

    @Test
    void givenAMemberHasOnlyASharedPart_whenCounted_thenItKeepsNoReaderAway() {
        parts.put(1, Map.of(one, exclusive(), two, exclusive(), three, shared()));
        parts.exclude(1, OptionalLong.of(7));

        assertThat(parts.lasting(Optional.empty())).hasSize(2);
        assertThat(parts.of(three)).contains(new Key.Held(LockMode.SHARED, OptionalLong.empty()));
    }

    @Test
    void givenAHoldIsToldToLastLonger_whenCounted_thenPartsThatEndSoonerDoNot() {
        parts.put(1, Map.of(one, exclusive(), two, exclusive()));
        parts.exclude(1, OptionalLong.of(7));

        assertThat(parts.lasting(Optional.of(LEASE))).hasSize(2);
        assertThat(parts.lasting(Optional.of(Lease.timed(1, Duration.ofSeconds(30)))))
                .isEmpty();
    }

    /** A second Lock over the key asks for less than is held. */
    @Test
    void givenAQuorumHoldsExclusively_whenSharedIsAskedFor_thenItStaysExclusive() {
        parts.put(1, Map.of(one, exclusive(), two, exclusive(), three, exclusive()));
        parts.exclude(1, OptionalLong.of(7));

        parts.share(Map.of(one, exclusive(), two, exclusive(), three, shared()));

        assertThat(parts.mode()).contains(LockMode.EXCLUSIVE);
        assertThat(parts.fencingToken()).hasValue(7);
    }

    @Test
    void givenMostMembersSayShared_whenSharedIsAskedFor_thenItIsSharedAndOthersMayStillBeAskedToDemote() {
        parts.put(1, Map.of(one, exclusive(), two, exclusive(), three, exclusive()));
        parts.exclude(1, OptionalLong.of(7));

        parts.share(Map.of(one, shared(), two, shared()));

        assertThat(parts.mode()).contains(LockMode.SHARED);
        assertThat(parts.fencingToken()).isEmpty();
        assertThat(parts.of(three)).isEmpty();
        assertThat(parts.mayBeDemoted(three)).isTrue();
    }

    @Test
    void givenASharedHold_whenAMemberHasAnExclusivePart_thenThatOneMayBeDemoted() {
        parts.put(1, Map.of(one, shared(), two, exclusive()));
        parts.share(Map.of(one, shared()));

        assertThat(parts.mayBeDemoted(one)).isFalse();
        assertThat(parts.mayBeDemoted(two)).isTrue();
        assertThat(parts.mayBeDemoted(three)).isFalse();
    }

    @Test
    void givenAHoldThatWasElsewhere_whenShared_thenAMemberThatWasNotSeenMayBeDemoted() {
        HoldParts received = new HoldParts(quorum, key.claiming(Optional.of(EXCLUSIVE)));
        received.share(Map.of(one, shared()));

        assertThat(received.mayBeDemoted(three)).isTrue();
        received.exclude(1, OptionalLong.of(7));
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
        parts.exclude(1, OptionalLong.of(7));

        assertThat(parts.fit(Optional.of(EXCLUSIVE))).isTrue();
        assertThat(parts.fit(Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(8)))))
                .isFalse();
        assertThat(parts.fit(Optional.of(new Key.Held(LockMode.SHARED, OptionalLong.empty()))))
                .isTrue();
        assertThat(parts.fit(Optional.empty())).isTrue();
        parts.demote();
        assertThat(parts.fit(Optional.of(EXCLUSIVE))).isFalse();
    }

    @Test
    void givenAClaimIsGivenUp_thenThatOneAndNoOtherWas() {
        parts.exclude(1, OptionalLong.of(7));
        assertThat(parts.wereGivenUp(Optional.empty())).isFalse();

        parts.giveUp(Optional.of(EXCLUSIVE));

        assertThat(parts.wereGivenUp(Optional.of(EXCLUSIVE))).isTrue();
        assertThat(parts.wereGivenUp(Optional.empty())).isFalse();
        assertThat(parts.mode()).contains(LockMode.SHARED);
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
