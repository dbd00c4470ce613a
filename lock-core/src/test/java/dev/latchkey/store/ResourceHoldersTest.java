package dev.latchkey.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Whose lease counts, at moments around its end. */
class ResourceHoldersTest {

    /** Times are of a clock that does not begin at zero. */
    private static final long NOW = 1_000;

    private static final long END = 1_050;

    private final ResourceHolders holders = new ResourceHolders();
    private final Key key = Key.of("x");
    private final Key other = Key.of("x");

    @Test
    void givenALease_whenItsLastNanosecondIsOver_thenOthersAreAdmittedAndItIsForgottenWhenAsked() {
        hold(key, LockMode.EXCLUSIVE, END);

        assertThat(holders.admits(other, LockMode.SHARED, END - 1)).isFalse();
        assertThat(holders.admits(other, LockMode.SHARED, END)).isTrue();
        assertThat(holders.live(key, END - 1)).isNotNull();
        assertThat(holders.live(key, END)).isNull();
        assertThat(holders.areOverAt(END - 1)).isFalse();
        assertThat(holders.areOverAt(END)).isTrue();
        holders.removeEnded(END - 1);
        assertThat(holders.isEmpty()).isFalse();
        holders.removeEnded(END);
        assertThat(holders.isEmpty()).isTrue();
    }

    @Test
    void givenAReader_thenReadersAreAdmittedAndAWriterOnlyIfItIsTheSameKey() {
        hold(key, LockMode.SHARED, END);

        assertThat(holders.admits(other, LockMode.SHARED, NOW)).isTrue();
        assertThat(holders.admits(other, LockMode.EXCLUSIVE, NOW)).isFalse();
        assertThat(holders.admits(key, LockMode.EXCLUSIVE, NOW)).isTrue();
    }

    @Test
    void givenTwoReaders_whenRefused_thenTheLongestLeaseIsNamedAndTheShortestIsTheNextToEnd() {
        hold(key, LockMode.SHARED, END);
        hold(other, LockMode.SHARED, END + 30);

        assertThat(holders.conflict(request(other), NOW, new Recalls()))
                .isEqualTo(new Response.Conflicted(Duration.ofNanos(80)));
        assertThat(holders.nanosToNextEnd(NOW)).isEqualTo(50);
        assertThat(holders.holders(NOW))
                .extracting(holder -> holder.remaining().orElseThrow())
                .containsExactlyInAnyOrder(Duration.ofNanos(50), Duration.ofNanos(80));
        assertThat(holders.holders(END)).hasSize(1);
    }

    @Test
    void givenAKeyHoldsNothing_thenWhyIsToldByWhoHoldsNow() {
        assertThat(holders.lost(key, null, NOW)).isEqualTo(ResourceHolders.EXPIRED);
        ResourceHolders.Grant own = hold(key, LockMode.EXCLUSIVE, END);
        assertThat(holders.lost(key, own, NOW)).isEqualTo(new Response.Lost(LossReason.RELEASED_ELSEWHERE));
        assertThat(holders.lost(key, null, END)).isEqualTo(ResourceHolders.EXPIRED);
        hold(other, LockMode.EXCLUSIVE, END + 30);
        assertThat(holders.lost(key, null, END)).isEqualTo(new Response.Lost(LossReason.TAKEN_OVER));
        assertThat(holders.lost(key, null, END + 30)).isEqualTo(ResourceHolders.EXPIRED);
    }

    @Test
    void givenAnExclusiveHold_thenOnlyItsOwnTokenIsAsClaimed() {
        ResourceHolders.Grant grant = hold(key, LockMode.EXCLUSIVE, END);

        assertThat(grant.isAsClaimed(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(1))))
                .isTrue();
        assertThat(grant.isAsClaimed(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(2))))
                .isFalse();
        assertThat(grant.isAsClaimed(new Key.Held(LockMode.SHARED, OptionalLong.empty())))
                .isTrue();
        assertThat(hold(other, LockMode.SHARED, END)
                        .isAsClaimed(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.empty())))
                .isFalse();
    }

    /** A late release can tell whether the resource changed hands. */
    @Test
    void givenAnEndedLease_whenRemoved_thenItWasTheLastHolderOnce() {
        hold(key, LockMode.EXCLUSIVE, NOW);

        assertThat(holders.remove(other)).isFalse();
        assertThat(holders.remove(key)).isTrue();
        assertThat(holders.remove(key)).isFalse();
    }

    /** Two were told of it: the hold ends only when the second gives it back as well. */
    @Test
    void givenTwoWereToldOfAHold_whenOneGivesItBack_thenItIsHeldStill() {
        ResourceHolders.Grant grant = grant(LockMode.EXCLUSIVE, END);
        Response.Granted first = holders.tell(key, grant, NOW);
        Response.Granted second = holders.tell(key, grant, NOW);
        assertThat(first).isEqualTo(second);

        holders.giveBack(key, grant.stake());
        assertThat(holders.live(key, NOW)).isNotNull();
        holders.giveBack(key, grant.stake());

        assertThat(holders.live(key, NOW)).isNull();
    }

    private ResourceHolders.Grant hold(Key who, LockMode mode, long end) {
        ResourceHolders.Grant grant = grant(mode, end);
        Response.Granted unused = holders.put(who, grant, NOW);
        return grant;
    }

    private static ResourceHolders.Grant grant(LockMode mode, long end) {
        OptionalLong token = mode == LockMode.EXCLUSIVE ? OptionalLong.of(1) : OptionalLong.empty();
        ResourceHolders.Stake stake = new ResourceHolders.Stake(null, request(Key.of("x")), NOW);
        return new ResourceHolders.Grant(mode, token, end, stake, token.orElse(0));
    }

    private static Request request(Key key) {
        return new Request(key, LockMode.EXCLUSIVE, Duration.ofSeconds(1), RetryIntent.ONCE);
    }
}
