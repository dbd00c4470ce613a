package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.IndexStore;
import dev.latchkey.spi.StateIndex;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** With which change resources were last given up is remembered: for an {@link IndexStore}. */
@ContractFor(IndexStore.class)
public interface IndexStoreContract extends StoreContract {

    @Test
    default void givenNothingRaised_whenLookedUp_thenNothing(Fixture fixture) {
        assertThat(indexes(fixture, fixture.resource())).isEmpty();
    }

    @Test
    default void givenRaised_whenLookedUp_thenThatIsThere(Fixture fixture) {
        String other = fixture.resource() + "/other";
        store(fixture).raise(Map.of(fixture.resource(), new StateIndex(3, 0), other, new StateIndex(0, 5)));

        assertThat(indexes(fixture, fixture.resource(), other))
                .containsOnly(
                        Map.entry(fixture.resource(), new StateIndex(3, 0)), Map.entry(other, new StateIndex(0, 5)));
        assertThat(indexes(fixture, other)).containsOnlyKeys(other);
    }

    @Test
    default void givenRaised_whenRaisedAgain_thenEachNumberIsTheGreaterOne(Fixture fixture) {
        store(fixture).raise(Map.of(fixture.resource(), new StateIndex(10, 4)));

        store(fixture).raise(Map.of(fixture.resource(), new StateIndex(9, 5)));

        assertThat(indexes(fixture, fixture.resource())).containsEntry(fixture.resource(), new StateIndex(10, 5));
    }

    @Test
    default void givenTheGreatestIndex_whenRaised_thenItIsKeptExactly(Fixture fixture) {
        store(fixture).raise(Map.of(fixture.resource(), new StateIndex(StateIndex.MAX, StateIndex.MAX - 1)));

        assertThat(indexes(fixture, fixture.resource()))
                .containsEntry(fixture.resource(), new StateIndex(StateIndex.MAX, StateIndex.MAX - 1));
    }

    @Test
    default void givenResourcesThatDifferLittle_whenRaised_thenEachHasItsOwn(Fixture fixture) {
        String name = fixture.resource();
        List<String> resources =
                List.of(name + "/a", name + "/A", name + "/a ", name + "/ä", name + "/" + "x".repeat(5_000));
        Map<String, StateIndex> raised = new HashMap<>();
        resources.forEach(resource -> raised.put(resource, new StateIndex(raised.size() + 1, 0)));

        store(fixture).raise(raised);

        assertThat(store(fixture).indexes(resources)).isEqualTo(raised);
    }

    @Test
    default void givenManyResources_whenRaised_thenAllAreRemembered(Fixture fixture) {
        Map<String, StateIndex> raised = new HashMap<>();
        IntStream.range(0, 300).forEach(i -> raised.put(fixture.resource() + "/" + i, new StateIndex(i, 300 - i)));

        store(fixture).raise(raised);

        assertThat(store(fixture).indexes(raised.keySet())).isEqualTo(raised);
    }

    private static IndexStore store(Fixture fixture) {
        return fixture.store(IndexStore.class);
    }

    private static Map<String, StateIndex> indexes(Fixture fixture, String... resources) {
        return store(fixture).indexes(List.of(resources));
    }
}
