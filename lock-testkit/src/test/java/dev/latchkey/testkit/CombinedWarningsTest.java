package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.latchkey.Key;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.combined.Strategy;
import dev.latchkey.combined.UnanimousStrategy;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.UnfencedStore;
import dev.latchkey.store.InMemoryStore;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a combined store logs of members that are allowed, but may not be what was meant. */
class CombinedWarningsTest {

    @Test
    void givenTwoMembersOfAConsensus_whenCombined_thenWarnedThatNoneMayFail() {
        assertThat(said(fenced(2), new ConsensusStrategy())).contains("lock.combined_survives_nothing members=2");
    }

    @Test
    void givenFourMembersOfAConsensus_whenCombined_thenWarnedThatThreeTolerateAsMuch() {
        assertThat(said(fenced(4), new ConsensusStrategy()))
                .contains("lock.combined_even members=4")
                .doesNotContain("lock.combined_survives_nothing");
    }

    @Test
    void givenTooFewMembersWithTokens_whenCombined_thenWarnedThatSomeHoldsHaveNone() {
        List<PersistingStore> members = Stream.concat(fenced(2).stream(), Stream.of(new Unfenced(new InMemoryStore())))
                .toList();

        assertThat(said(members, new ConsensusStrategy())).contains("lock.combined_unfenced members=1 of 3");
    }

    @Test
    void givenAMemberWithNeitherTokensNorLeases_whenCombined_thenRefusedWithWhatToUse() {
        List<PersistingStore> members = Stream.concat(fenced(2).stream(), Stream.of(new Endless(new InMemoryStore())))
                .toList();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new CombinedStore(members, new ConsensusStrategy()))
                .withMessageContaining("Endless")
                .withMessageContaining("neither a fencing token nor a lease")
                .withMessageContaining("use a table");
    }

    @Test
    void givenAMemberWithLeasesButNoTokens_whenCombined_thenWarned() {
        List<PersistingStore> members = Stream.concat(fenced(2).stream(), Stream.of(new Expiring(new InMemoryStore())))
                .toList();

        assertThat(said(members, new ConsensusStrategy())).contains("lock.combined_unfenced members=1 of 3");
    }

    @Test
    void givenWhatIsRecommended_whenCombined_thenNothingIsSaid() {
        assertThat(said(fenced(3), new ConsensusStrategy()) + said(fenced(2), new UnanimousStrategy()))
                .isEmpty();
    }

    private static List<PersistingStore> fenced(int count) {
        return Stream.<PersistingStore>generate(InMemoryStore::new).limit(count).toList();
    }

    private static String said(List<PersistingStore> members, Strategy strategy) {
        PrintStream before = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            new CombinedStore(members, strategy).close();
        } finally {
            System.setErr(before);
        }
        return said.toString(StandardCharsets.UTF_8);
    }

    /** The least a store can do. */
    private record Unfenced(InMemoryStore memory) implements PersistingStore {

        @Override
        public Response save(Request request) {
            return memory.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return memory.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return memory.find(key);
        }
    }

    /** As a lock that belongs to a connection. */
    private record Endless(InMemoryStore memory) implements UnfencedStore {

        @Override
        public String alternative() {
            return "a table";
        }

        @Override
        public Response save(Request request) {
            return memory.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return memory.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return memory.find(key);
        }
    }

    private record Expiring(InMemoryStore memory) implements UnfencedStore, ExpiringStore {

        @Override
        public String alternative() {
            return "a table";
        }

        @Override
        public Response save(Request request) {
            return memory.save(request);
        }

        @Override
        public Response refresh(Request request) {
            return memory.refresh(request);
        }

        @Override
        public boolean delete(Key key) {
            return memory.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return memory.find(key);
        }
    }
}
