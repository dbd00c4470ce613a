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

/** What two threads ask of one hold, in the order in which their answers are taken in. */
class CombinedHoldTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private final List<Member> members = List.of(new Member(1, new InMemoryStore()));
    private final Quorum quorum = new Quorum(members, new UnanimousStrategy(), TTL);
    private final Key key = Key.of("x");
    private final CombinedHold hold = quorum.holdOrNew(key);
    private final Key writes = key.claiming(Optional.of(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(1))));

    CombinedHoldTest() {
        assertThat(hold.add(0, granted(LockMode.EXCLUSIVE), LockMode.EXCLUSIVE, OptionalLong.of(1)))
                .isTrue();
    }

    @Test
    void givenADemotionHasBegun_whenARenewalFromBeforeIsAnswered_thenItIsNotExclusiveAgain() {
        int before = hold.savesIfQuiet();
        int demotion = hold.saveBegins(request(writes, LockMode.SHARED));

        assertThat(hold.addAsClaimed(before, granted(LockMode.EXCLUSIVE), writes.held()))
                .isFalse();

        assertThat(hold.add(demotion, granted(LockMode.SHARED), LockMode.SHARED, OptionalLong.empty()))
                .isTrue();
        assertThat(hold.mode()).contains(LockMode.SHARED);
    }

    @Test
    void givenADemotionHasEnded_whenASaveFromBeforeIsAnswered_thenItIsNotExclusiveAgain() {
        Request again = request(key, LockMode.EXCLUSIVE);
        int before = hold.saveBegins(again);
        demote();

        assertThat(hold.add(before, granted(LockMode.EXCLUSIVE), LockMode.EXCLUSIVE, OptionalLong.of(1)))
                .isFalse();

        hold.saveEnds(again);
        assertThat(hold.mode()).contains(LockMode.SHARED);
    }

    /** It may have come to members before the demotion, whichever began first here. */
    @Test
    void givenASaveBeganBesideADemotion_whenItIsAnswered_thenItIsNotExclusiveAgain() {
        Request demotion = request(writes, LockMode.SHARED);
        int demoting = hold.saveBegins(demotion);
        int beside = hold.saveBegins(request(key, LockMode.EXCLUSIVE));
        assertThat(hold.add(demoting, granted(LockMode.SHARED), LockMode.SHARED, OptionalLong.empty()))
                .isTrue();
        hold.saveEnds(demotion);

        assertThat(hold.add(beside, granted(LockMode.EXCLUSIVE), LockMode.EXCLUSIVE, OptionalLong.of(1)))
                .isFalse();
    }

    @Test
    void givenDemoted_whenPromotedAfterIt_thenExclusive() {
        demote();

        int promotion = hold.saveBegins(request(key, LockMode.EXCLUSIVE));

        assertThat(hold.add(promotion, granted(LockMode.EXCLUSIVE), LockMode.EXCLUSIVE, OptionalLong.of(2)))
                .isTrue();
        assertThat(hold.mode()).contains(LockMode.EXCLUSIVE);
    }

    private void demote() {
        Request demotion = request(writes, LockMode.SHARED);
        int number = hold.saveBegins(demotion);
        assertThat(hold.add(number, granted(LockMode.SHARED), LockMode.SHARED, OptionalLong.empty()))
                .isTrue();
        hold.saveEnds(demotion);
    }

    private static Request request(Key key, LockMode mode) {
        return new Request(key, mode, TTL, RetryIntent.ONCE);
    }

    private Map<Member, Response.Granted> granted(LockMode mode) {
        OptionalLong token = mode == LockMode.SHARED ? OptionalLong.empty() : OptionalLong.of(1);
        return Map.of(members.get(0), new Response.Granted(mode, token, Lease.endless()));
    }
}
