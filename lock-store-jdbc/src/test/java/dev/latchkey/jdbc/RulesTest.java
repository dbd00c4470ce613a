package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Who may hold what. The database's clock stands at NOW; the last fencing token is as many microseconds later. */
class RulesTest {

    private static final long NOW = 5_000_000;
    private static final long TOKEN = NOW + 100;
    private static final long END = NOW + 10_000;
    private static final Duration TTL = Duration.ofMillis(20);
    private static final long NEW_END = NOW + 20_000;
    private static final Row FREE = new Row(Optional.empty(), TOKEN, List.of(), Optional.empty(), false, 3, NOW);

    private final Key key = Key.of("x");
    private final Key other = Key.of("x");

    @Test
    void givenFree_whenAcquired_thenGrantedWithTheNextTokenOrTheClockIfThatIsMore() {
        assertThat(token(save(FREE, exclusive(key)))).isEqualTo(TOKEN + 1);
        assertThat(token(save(FREE.withWriter(Optional.empty(), 7), exclusive(key))))
                .isEqualTo(NOW);

        Decision<Response> decision = save(FREE, exclusive(key));
        assertThat(decision.row().orElseThrow().writer())
                .contains(new Row.Writer(key.token(), "me", NOW, NEW_END, TOKEN + 1));
        assertThat(granted(decision).lease().ttl()).isEqualTo(TTL);
        assertThat(decision.letsOthersIn()).isFalse();
    }

    @Test
    void givenAnEndedLease_whenAcquired_thenGrantedAndNothingOfItIsLeft() {
        Row ended = heldBy(other, NOW).withReaders(List.of(reader(other, NOW)));

        assertThat(save(ended, exclusive(key)).row().orElseThrow().readers()).isEmpty();
        Row shared = save(ended, shared(key)).row().orElseThrow();

        assertThat(shared.writer()).isEmpty();
        assertThat(shared.readers()).containsExactly(reader(key, NEW_END));
        assertThat(shared.fencingToken()).isEqualTo(TOKEN);
    }

    @Test
    void givenHeldExclusively_whenAnotherAsks_thenRefusedWithTheTimeThatIsLeft() {
        assertThat(save(heldBy(other, END), exclusive(key)).answer()).isEqualTo(conflict());
        assertThat(save(heldBy(other, END), shared(key)).answer()).isEqualTo(conflict());
    }

    @Test
    void givenReaders_whenAnotherAsks_thenOnlyAReaderIsLetIn() {
        Row row = FREE.withReaders(List.of(reader(other, END)));

        assertThat(save(row, exclusive(key)).answer()).isEqualTo(conflict());
        assertThat(save(row, shared(key)).row().orElseThrow().readers())
                .containsExactly(reader(other, END), reader(key, NEW_END));
        assertThat(save(row.withPromoter(mark(other)), shared(key)).answer())
                .as("refused until the mark lapses")
                .isEqualTo(new Response.Conflicted(Duration.ofNanos(1_000)));
    }

    /** A release is announced only if somebody has said that it waits. */
    @Test
    void givenRefused_whenItWillAskAgain_thenTheRowSaysSoOnce() {
        Request again = new Request(key, LockMode.EXCLUSIVE, TTL, RetryIntent.AGAIN);

        Row waited = save(heldBy(other, END), again).row().orElseThrow();

        assertThat(waited.waited()).isTrue();
        assertThat(save(waited, again).row()).isEmpty();
        assertThat(save(heldBy(other, END), exclusive(key)).row()).isEmpty();
    }

    /** Whoever keeps it is to be recalled, also if the promotion that was given up was of a Lock that is not sticky. */
    @Test
    void givenAStickyReaderThatGivesItsPromotionUp_whenItRenews_thenItStaysOneToBeRecalled() {
        SharedHold sticky = new SharedHold(key.token(), END, "me||~0");
        Row row = FREE.withReaders(List.of(sticky)).withPromoter(mark(key));

        Row written = save(row, shared(claimingShared(key))).row().orElseThrow();

        assertThat(written.readers()).containsExactly(new SharedHold(key.token(), NEW_END, "me||~0"));
        assertThat(written.promoter()).isEmpty();
    }

    @Test
    void givenTheOnlyReader_whenItPromotes_thenGrantedForNoLessThanItHad() {
        Row row = FREE.withReaders(List.of(reader(key, NEW_END + 5_000))).withPromoter(mark(key));

        Decision<Response> decision = save(row, promotion());

        Row written = decision.row().orElseThrow();
        assertThat(token(decision)).isEqualTo(TOKEN + 1);
        assertThat(written.writer().orElseThrow().expiresAt()).isEqualTo(NEW_END + 5_000);
        assertThat(written.readers()).isEmpty();
        assertThat(written.promoter()).isEmpty();
    }

    @Test
    void givenTwoReaders_whenOnePromotes_thenItIsMarkedAndTheSecondOneIsRefusedForGood() {
        Row row = FREE.withReaders(List.of(reader(key, END), reader(other, END)));
        Request again = new Request(claimingShared(key), LockMode.EXCLUSIVE, TTL, RetryIntent.AGAIN);

        Decision<Response> first = save(row, again);

        assertThat(first.answer()).isEqualTo(conflict());
        assertThat(first.row().orElseThrow().promoter()).contains(new Row.Promoter(key.token(), NOW + 3_000_000));
        assertThat(save(row.withPromoter(mark(other)), again).answer()).isEqualTo(new Response.Refused());
        assertThat(save(row.withPromoter(mark(other)), promotion()).answer()).isEqualTo(conflict());
    }

    /** Without its mark, readers may come in again. */
    @Test
    void givenAMarkedPromoter_whenItTriesTheLastTime_thenItsMarkIsTakenAwayAndNoOther() {
        Row row = FREE.withReaders(List.of(reader(key, END), reader(other, END)));

        Decision<Response> last = save(row.withPromoter(mark(key)), promotion());

        assertThat(last.letsOthersIn()).isTrue();
        assertThat(last.row().orElseThrow().promoter()).isEmpty();
        assertThat(save(row.withPromoter(mark(other)), promotion()).row()).isEmpty();
        assertThat(save(row, promotion()).row()).isEmpty();
    }

    @Test
    void givenHeld_whenRenewed_thenItsTokenStaysAndItsLeaseNeverGetsShorterUnlessAsked() {
        Request renewal = exclusive(claimingExclusive(key, TOKEN));

        assertThat(token(save(heldBy(key, END), renewal))).isEqualTo(TOKEN);
        assertThat(end(save(heldBy(key, END), renewal))).isEqualTo(NEW_END);
        assertThat(end(save(heldBy(key, NEW_END + 1), renewal))).isEqualTo(NEW_END + 1);
        Decision<Response> shortened = rules(
                        heldBy(key, NEW_END + 1),
                        new Request(
                                claimingExclusive(key, TOKEN),
                                LockMode.EXCLUSIVE,
                                TTL,
                                RetryIntent.ONCE,
                                LeaseChange.SET))
                .refresh();
        assertThat(end(shortened)).isEqualTo(NEW_END);
        assertThat(shortened.letsOthersIn()).isTrue();
        assertThat(save(heldBy(key, NEW_END), renewal).letsOthersIn()).isFalse();
    }

    @Test
    void givenAReader_whenRenewed_thenOnlyItsLeaseChangesAndItsMarkIsTakenByASave() {
        Row row =
                FREE.withReaders(List.of(reader(key, END), reader(other, END))).withPromoter(mark(key));

        Row saved = save(row, shared(claimingShared(key))).row().orElseThrow();
        Row refreshed = rules(row, shared(claimingShared(key))).refresh().row().orElseThrow();

        assertThat(saved.readers()).containsExactlyInAnyOrder(reader(other, END), reader(key, NEW_END));
        assertThat(saved.promoter()).isEmpty();
        assertThat(refreshed.promoter()).isEqualTo(mark(key));
    }

    @Test
    void givenHeldExclusively_whenDemoted_thenReadersAreLetInAndARepeatedDemotionIsGrantedToo() {
        Request demotion = shared(claimingExclusive(key, TOKEN));

        Decision<Response> demoted = save(heldBy(key, END), demotion);

        Row row = demoted.row().orElseThrow();
        assertThat(demoted.letsOthersIn()).isTrue();
        assertThat(row.writer()).isEmpty();
        assertThat(row.readers()).containsExactly(reader(key, NEW_END));
        assertThat(granted(demoted).mode()).isEqualTo(LockMode.SHARED);
        assertThat(granted(save(row, demotion)).mode()).isEqualTo(LockMode.SHARED);
    }

    /** A second Lock over the key asks for less than is held, and does not claim it. */
    @Test
    void givenHeldExclusively_whenSharedIsAskedForWithoutAClaim_thenItStaysExclusive() {
        assertThat(granted(save(heldBy(key, END), shared(key))).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    void givenAClaimThatIsNoLongerTrue_thenTheLossSaysWhy() {
        Request claim = exclusive(claimingExclusive(key, TOKEN));

        assertThat(save(FREE, claim).answer()).isEqualTo(lost(LossReason.EXPIRED));
        assertThat(rules(FREE, claim).refresh().answer()).isEqualTo(lost(LossReason.EXPIRED));
        assertThat(save(heldBy(other, END), claim).answer()).isEqualTo(lost(LossReason.TAKEN_OVER));
        assertThat(save(FREE.withReaders(List.of(reader(other, END))), claim).answer())
                .isEqualTo(lost(LossReason.TAKEN_OVER));
        assertThat(save(heldBy(key, END), exclusive(claimingExclusive(key, TOKEN - 1)))
                        .answer())
                .isEqualTo(lost(LossReason.RELEASED_ELSEWHERE));
        assertThat(save(FREE.withReaders(List.of(reader(key, END))), claim).answer())
                .isEqualTo(lost(LossReason.RELEASED_ELSEWHERE));
        assertThat(rules(heldBy(key, END), exclusive(claimingExclusive(key, TOKEN - 1)))
                        .refresh()
                        .answer())
                .isEqualTo(lost(LossReason.RELEASED_ELSEWHERE));
        assertThat(rules(FREE, exclusive(key)).refresh().answer()).isEqualTo(lost(LossReason.EXPIRED));
    }

    @Test
    void givenReleased_thenOthersAreLetInAndOnlyThatHoldIsGone() {
        Decision<Boolean> written = Rules.delete(heldBy(key, END), key);
        Decision<Boolean> read = Rules.delete(
                FREE.withReaders(List.of(reader(key, END), reader(other, END))).withPromoter(mark(key)), key);

        assertThat(written.answer() && written.letsOthersIn()).isTrue();
        assertThat(written.row().orElseThrow().writer()).isEmpty();
        assertThat(written.row().orElseThrow().fencingToken()).isEqualTo(TOKEN);
        assertThat(read.answer() && read.letsOthersIn()).isTrue();
        assertThat(read.row().orElseThrow().readers()).containsExactly(reader(other, END));
        assertThat(read.row().orElseThrow().promoter()).isEmpty();
        assertThat(Rules.delete(heldBy(other, END), key)).isEqualTo(Decision.leave(false));
    }

    @Test
    void givenHeld_whenFound_thenWithItsModeTokenAndWhatIsLeftOfItsLease() {
        Response.Granted writer = Rules.find(heldBy(key, END), key, 0).orElseThrow();
        Response.Granted reader =
                Rules.find(FREE.withReaders(List.of(reader(key, END))), key, 0).orElseThrow();

        assertThat(writer.fencingToken()).hasValue(TOKEN);
        assertThat(writer.lease().ttl()).isEqualTo(Duration.ofMillis(10));
        assertThat(reader.mode()).isEqualTo(LockMode.SHARED);
        assertThat(reader.lease().ttl()).isEqualTo(Duration.ofMillis(10));
        assertThat(Rules.find(heldBy(other, END), key, 0)).isEmpty();
        assertThat(Rules.find(heldBy(key, NOW), key, 0)).isEmpty();
        assertThat(Rules.find(FREE.withReaders(List.of(reader(other, END))), key, 0))
                .isEmpty();
    }

    private static Rules rules(Row row, Request request) {
        return new Rules(row, request, 0, "me");
    }

    private static Decision<Response> save(Row row, Request request) {
        return rules(row, request).save();
    }

    private static Row heldBy(Key writer, long end) {
        return FREE.withWriter(Optional.of(new Row.Writer(writer.token(), "me", NOW - 1, end, TOKEN)), TOKEN);
    }

    private static SharedHold reader(Key key, long end) {
        return new SharedHold(key.token(), end, "me");
    }

    private static Optional<Row.Promoter> mark(Key promoter) {
        return Optional.of(new Row.Promoter(promoter.token(), NOW + 1));
    }

    private static Request exclusive(Key key) {
        return new Request(key, LockMode.EXCLUSIVE, TTL, RetryIntent.ONCE);
    }

    private static Request shared(Key key) {
        return new Request(key, LockMode.SHARED, TTL, RetryIntent.ONCE);
    }

    private Request promotion() {
        return exclusive(claimingShared(key));
    }

    private static Key claimingShared(Key key) {
        return key.claiming(Optional.of(new Key.Held(LockMode.SHARED, OptionalLong.empty())));
    }

    private static Key claimingExclusive(Key key, long token) {
        return key.claiming(Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(token))));
    }

    private static Response conflict() {
        return new Response.Conflicted(Duration.ofMillis(10));
    }

    private static Response lost(LossReason reason) {
        return new Response.Lost(reason);
    }

    private static Response.Granted granted(Decision<Response> decision) {
        assertThat(decision.answer()).isInstanceOf(Response.Granted.class);
        return (Response.Granted) decision.answer();
    }

    private static long token(Decision<Response> decision) {
        return granted(decision).fencingToken().orElseThrow();
    }

    private static long end(Decision<Response> decision) {
        long end = decision.row().orElseThrow().writer().orElseThrow().expiresAt();
        assertThat(granted(decision).lease().ttl()).isEqualTo(Rules.micros(end - NOW));
        return end;
    }
}
