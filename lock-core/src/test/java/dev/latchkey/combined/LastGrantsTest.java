package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LastGrantsTest {

    private final PersistingStore common = new InMemoryStore();
    private final Quorum quorum = quorum(common);
    private final Quorum overTheSame = quorum(common);
    private final Quorum overOthers = quorum(new InMemoryStore());
    private final Key key = Key.of("x");

    @Test
    void givenAGrantThroughAStore_thenItIsAnothersForThoseThatShareAMemberUntilItEnds() {
        assertThat(LastGrants.isThroughAnother(overTheSame, key)).isFalse();

        LastGrants.through(quorum, key);

        assertThat(LastGrants.isThroughAnother(overTheSame, key)).isTrue();
        assertThat(LastGrants.isThroughAnother(quorum, key)).isFalse();
        assertThat(LastGrants.isThroughAnother(overOthers, key)).isFalse();
        LastGrants.ended(overTheSame, key);
        assertThat(LastGrants.isThroughAnother(overTheSame, key)).isTrue();
        LastGrants.ended(quorum, key);
        assertThat(LastGrants.isThroughAnother(overTheSame, key)).isFalse();
    }

    @Test
    void givenGrantsThroughTwoStores_whenOneIsClosed_thenOnlyItsAreForgotten() {
        Key another = Key.of("y");
        LastGrants.through(quorum, key);
        LastGrants.through(overTheSame, another);

        LastGrants.forget(quorum);

        assertThat(LastGrants.isThroughAnother(overTheSame, key)).isFalse();
        assertThat(LastGrants.isThroughAnother(quorum, another)).isTrue();
        LastGrants.forget(overTheSame);
    }

    private static Quorum quorum(PersistingStore store) {
        return new Quorum(List.of(new Member(1, store)), new UnanimousStrategy(), Duration.ofSeconds(1));
    }
}
