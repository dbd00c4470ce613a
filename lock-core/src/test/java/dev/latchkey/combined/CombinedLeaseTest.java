package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class CombinedLeaseTest {

    private static final Optional<Lease> NOT_MIXED = Optional.empty();

    @Test
    void givenPartsOfDifferentLength_whenTogether_thenAsLongAsAQuorumLastsFromTheEarliest() {
        Lease together = of(2, NOT_MIXED, timed(30, 10), timed(20, 30), timed(10, 20));

        assertThat(together.since()).hasValue(10);
        assertThat(together.ttl()).isEqualTo(Duration.ofNanos(20));
    }

    @Test
    void givenUnanimity_whenTogether_thenAsLongAsTheShortest() {
        assertThat(of(3, NOT_MIXED, timed(0, 10), timed(0, 30), timed(0, 20)).ttl())
                .isEqualTo(Duration.ofNanos(10));
    }

    @Test
    void givenNoPartHasALease_whenTogether_thenEndless() {
        assertThat(of(2, NOT_MIXED, Lease.endless(), Lease.endless()).since()).isEmpty();
    }

    /** Else it would not be renewed, and the part with a lease would end while it is counted on. */
    @Test
    void givenEnoughPartsWithoutALease_whenOneHasOne_thenTheHoldHasOne() {
        Lease together = of(2, NOT_MIXED, Lease.endless(), Lease.endless(), timed(5, 10));

        assertThat(together.since()).hasValue(5);
        assertThat(together.ttl()).isEqualTo(Duration.ofNanos(10));
    }

    /** The quorum counts on the part that ends. */
    @Test
    void givenOnePartWithoutALease_whenTheQuorumNeedsAnother_thenThatOneBoundsIt() {
        assertThat(of(2, NOT_MIXED, timed(5, 10), Lease.endless(), timed(5, 30)).ttl())
                .isEqualTo(Duration.ofNanos(30));
    }

    @Test
    void givenMembersWithAndWithoutLeases_whenNoPartThatCountsHasOne_thenWhatWasAskedFor() {
        Lease together = of(1, Optional.of(timed(7, 40)), Lease.endless());

        assertThat(together.since()).hasValue(7);
        assertThat(together.ttl()).isEqualTo(Duration.ofNanos(40));
    }

    /** So that it covers parts that are answered later. */
    @Test
    void givenAskedBeforeTheParts_whenTogether_thenFromThenOn() {
        assertThat(of(1, Optional.of(timed(3, 40)), timed(5, 10)).since()).hasValue(3);
        assertThat(of(1, Optional.of(timed(9, 40)), timed(5, 10)).since()).hasValue(5);
    }

    /** The monotonic clock may pass from the greatest number to the smallest. */
    @Test
    void givenTheClockPassesItsGreatestNumber_whenTogether_thenTheEarliestIsTheOneBefore() {
        assertThat(of(2, NOT_MIXED, timed(Long.MIN_VALUE + 5, 10), timed(Long.MAX_VALUE - 5, 10))
                        .since())
                .hasValue(Long.MAX_VALUE - 5);
    }

    @Test
    void givenASession_whenTogether_thenItBoundsTheHoldBesideTime() {
        Lease session = Lease.session(new CompletableFuture<>(), () -> false);

        Lease together = CombinedLease.of(List.of(timed(5, 10)), 1, NOT_MIXED, session);

        assertThat(together.lost()).isEqualTo(session.lost());
        assertThat(together.isLive()).isSameAs(session.isLive());
        assertThat(together.since()).isEqualTo(OptionalLong.of(5));
    }

    @Test
    void givenAPartAndAHold_whenCompared_thenThePartLastsIfItDoesNotEndSooner() {
        assertThat(CombinedLease.lasts(timed(0, 10), timed(5, 5))).isTrue();
        assertThat(CombinedLease.lasts(timed(0, 11), timed(5, 5))).isTrue();
        assertThat(CombinedLease.lasts(timed(0, 9), timed(5, 5))).isFalse();
        assertThat(CombinedLease.lasts(Lease.endless(), timed(5, 5))).isTrue();
        assertThat(CombinedLease.lasts(timed(5, 5), Lease.endless())).isFalse();
        assertThat(CombinedLease.lasts(Lease.endless(), Lease.endless())).isTrue();
        assertThat(CombinedLease.lasts(timed(Long.MAX_VALUE - 1, 10), timed(Long.MAX_VALUE - 1, 1)))
                .isTrue();
    }

    private static Lease of(int quorum, Optional<Lease> asked, Lease... parts) {
        return CombinedLease.of(List.of(parts), quorum, asked, Lease.endless());
    }

    private static Lease timed(long since, long nanos) {
        return Lease.timed(since, Duration.ofNanos(nanos));
    }
}
