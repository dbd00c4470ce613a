package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What the rules make of sticky holds. */
class StickyRulesTest {

    private static final long NOW = 5_000_000;
    private static final long TOKEN = NOW + 100;
    private static final long RESERVED = 20_000;
    private static final Duration TTL = Duration.ofMillis(20);
    private static final String NAME = "Größe";
    private static final Row FREE = new Row(Optional.empty(), TOKEN - 1, List.of(), Optional.empty(), false, 3, NOW);

    private final Key key = Key.of(NAME);
    private final Key other = Key.of(NAME);
    private final Row held = row(save(FREE, sticky(key, LockMode.EXCLUSIVE)));

    private static Request sticky(Key key, LockMode mode) {
        return new Request(key, mode, TTL, RetryIntent.ONCE, LeaseChange.EXTEND, "me", Duration.ofMinutes(1));
    }

    private static Request plain(Key key, LockMode mode, RetryIntent intent) {
        return new Request(key, mode, TTL, intent, LeaseChange.EXTEND, "you");
    }

    private static Key claiming(Key key, long token) {
        return key.claiming(Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(token))));
    }

    private static Decision<Response> save(Row row, Request request) {
        return new Rules(row, request, 0, HolderText.of(request)).save();
    }

    private static Decision<Response> refresh(Row row, Request request) {
        return new Rules(row, request, 0, HolderText.of(request)).refresh();
    }

    private static Row row(Decision<?> decision) {
        return decision.row().orElseThrow();
    }

    private static Row at(long now, Row row) {
        return new Row(row.writer(), row.fencingToken(), row.readers(), row.promoter(), row.waited(), 4, now);
    }

    private static OptionalLong token(Decision<Response> decision) {
        return ((Response.Granted) decision.answer()).fencingToken();
    }

    private static boolean isRecalled(Decision<Response> decision) {
        return ((Response.Conflicted) decision.answer()).isRecalled();
    }

    @Test
    void givenFree_whenAcquiredSticky_thenTokensAreReservedAndPeopleAreShownTheOneInUse() {
        assertThat(token(save(FREE, sticky(key, LockMode.EXCLUSIVE)))).hasValue(TOKEN);
        assertThat(held.fencingToken()).isEqualTo(TOKEN + RESERVED);
        assertThat(held.holders()).singleElement().satisfies(shown -> {
            assertThat(shown.fencingToken()).hasValue(TOKEN);
            assertThat(shown.description()).contains("me");
        });
        assertThat(held.resource()).contains(NAME);
        assertThat(held.values(NAME)).containsEntry("promoter", "-").containsEntry("promoter_until", TOKEN);
    }

    @Test
    void givenSticky_whenATokenOfTheRangeIsClaimed_thenItIsInUseAndNoneBeforeIs() {
        Row renewed = row(refresh(held, sticky(claiming(key, TOKEN + 7), LockMode.EXCLUSIVE)));

        assertThat(renewed.usedToken()).isEqualTo(TOKEN + 7);
        assertThat(renewed.fencingToken()).isEqualTo(TOKEN + 7 + RESERVED);
        assertThat(Rules.find(renewed, claiming(key, TOKEN + 8), 0)
                        .orElseThrow()
                        .fencingToken())
                .hasValue(TOKEN + 8);
        for (long wrong : List.of(TOKEN + 6, TOKEN + 8 + RESERVED)) {
            assertThat(refresh(renewed, sticky(claiming(key, wrong), LockMode.EXCLUSIVE))
                            .answer())
                    .isInstanceOf(Response.Lost.class);
        }
    }

    /** It may come late: what was reserved meanwhile stays so. */
    @Test
    void givenRenewed_whenAnOrdinaryRenewalComes_thenNothingIsTakenBack() {
        Row renewed = row(refresh(held, plain(claiming(key, TOKEN), LockMode.EXCLUSIVE, RetryIntent.ONCE)));

        assertThat(renewed.fencingToken()).isEqualTo(TOKEN + RESERVED);
        assertThat(renewed.writer().orElseThrow().isKept()).isTrue();
    }

    @Test
    void givenSticky_whenReleased_thenTheTokenThatWasUsedLastIsLeftAndASecondReleaseSaysTheSame() {
        Row released = row(Rules.delete(held, claiming(key, TOKEN + 7)));

        assertThat(released.fencingToken()).isEqualTo(TOKEN + 7);
        assertThat(Rules.deleteSticky(released, claiming(key, TOKEN + 7), TOKEN + 7))
                .isEqualTo(Decision.leave(true));
        assertThat(Rules.deleteSticky(released, claiming(key, TOKEN + 8), TOKEN + 8))
                .isEqualTo(Decision.leave(false));
        assertThat(row(Rules.delete(held, key)).fencingToken()).isEqualTo(TOKEN + RESERVED);
    }

    @Test
    void givenSticky_whenEndedByForce_thenItIsByTheTokenInUseAndTheNextIsGreaterThanAllReserved() {
        assertThat(Rules.forceRelease(held, TOKEN + RESERVED)).isEqualTo(Decision.leave(false));

        Row ended = row(Rules.forceRelease(held, TOKEN));

        assertThat(token(save(ended, plain(other, LockMode.EXCLUSIVE, RetryIntent.ONCE))))
                .hasValue(TOKEN + RESERVED + 1);
    }

    @Test
    void givenSticky_whenOthersWait_thenItIsNotedOnceThatItWasRecalledAndForHowLongThatMayHelp() {
        assertThat(isRecalled(save(held, plain(other, LockMode.SHARED, RetryIntent.ONCE))))
                .isTrue();
        Decision<Response> waits = save(held, plain(other, LockMode.EXCLUSIVE, RetryIntent.AGAIN));
        assertThat(isRecalled(waits)).isTrue();
        assertThat(row(waits).waited()).isTrue();
        Row noted = row(waits);

        Decision<Response> soon = save(at(NOW + 10_000, noted), plain(other, LockMode.EXCLUSIVE, RetryIntent.AGAIN));

        assertThat(soon.row()).isEmpty();
        assertThat(isRecalled(soon)).isTrue();
        Row lasting = at(NOW + 60_000, noted.withWriter(Optional.of(lasting(noted)), noted.fencingToken()));
        assertThat(isRecalled(save(lasting, plain(other, LockMode.EXCLUSIVE, RetryIntent.ONCE))))
                .isFalse();
    }

    private static Row.Writer lasting(Row row) {
        Row.Writer writer = row.writer().orElseThrow();
        return new Row.Writer(
                writer.token(), writer.holder(), writer.acquiredAt(), NOW + 1_000_000, writer.usedToken());
    }

    @Test
    void givenStickyReaders_whenAWriterIsRefused_thenItMayBeGrantedSoonUnlessAnOrdinaryOneIsThere() {
        Row one = row(save(FREE, sticky(key, LockMode.SHARED)));
        Row both = row(save(one, plain(Key.of(NAME), LockMode.SHARED, RetryIntent.ONCE)));
        Request writes = plain(other, LockMode.EXCLUSIVE, RetryIntent.AGAIN);

        assertThat(isRecalled(save(one, writes))).isTrue();
        assertThat(isRecalled(save(both, writes))).isFalse();
        assertThat(row(save(both, writes)).readers())
                .extracting(SharedHold::holder)
                .anySatisfy(holder -> assertThat(HolderText.recalledAt(holder)).isEqualTo(NOW))
                .anySatisfy(holder -> assertThat(HolderText.isKept(holder)).isFalse());
        assertThat(SharedHold.read(SharedHold.write(one.readers()))).isEqualTo(one.readers());
    }

    @Test
    void givenANameThatIsItsOwnKey_whenSticky_thenTheTextHasNoName() {
        String text = HolderText.of(sticky(Key.of("plain"), LockMode.EXCLUSIVE));

        assertThat(HolderText.isKept(text)).isTrue();
        assertThat(HolderText.owner(text)).isEqualTo("me");
        assertThat(HolderText.resource(text)).isEmpty();
        assertThat(HolderText.isKept(HolderText.of(plain(Key.of("~0"), LockMode.EXCLUSIVE, RetryIntent.ONCE))))
                .isFalse();
    }

    private static Row marked(Row row, Key promoter) {
        return row.withPromoter(Optional.of(new Row.Promoter(promoter.token(), NOW + 3_000)));
    }

    /** Nobody tells it when the mark of a promoter that is gone has lapsed. */
    @Test
    void givenTheMarkOfAPromoter_whenAReaderIsRefused_thenItAsksAgainWhenTheMarkHasLapsed() {
        Row shared = row(save(FREE, sticky(key, LockMode.SHARED)));

        Decision<Response> refused = save(marked(shared, key), plain(other, LockMode.SHARED, RetryIntent.AGAIN));

        assertThat(((Response.Conflicted) refused.answer()).retryAfter()).isEqualTo(Duration.ofMillis(3));
        Decision<Response> writer = save(marked(shared, key), plain(other, LockMode.EXCLUSIVE, RetryIntent.AGAIN));
        assertThat(((Response.Conflicted) writer.answer()).retryAfter()).isEqualTo(TTL);
    }

    @Test
    void givenTheMarkOfAPromoter_whenItRenewsWhatItShares_thenTheMarkIsGoneAndReadersAreTold() {
        Row shared = row(save(FREE, sticky(key, LockMode.SHARED)));

        Decision<Response> renewed = save(marked(shared, key), plain(key, LockMode.SHARED, RetryIntent.ONCE));

        assertThat(row(renewed).promoter()).isEmpty();
        assertThat(renewed.letsOthersIn()).isTrue();
        assertThat(save(shared, plain(key, LockMode.SHARED, RetryIntent.ONCE)).letsOthersIn())
                .isFalse();
    }
}
