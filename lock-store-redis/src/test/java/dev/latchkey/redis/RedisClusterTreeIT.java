package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.IndexedBatchContract;
import dev.latchkey.testkit.TreeSavepointContract;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Trees on three masters, each in one slot. */
@Execution(ExecutionMode.CONCURRENT)
class RedisClusterTreeIT extends OnACluster implements IndexedBatchContract, TreeSavepointContract {

    private PersistingStore store;

    @BeforeEach
    void open() {
        store = new RedisStore.Provider().open(PatientDsn.redis(cluster.dsn()) + "&hash-tag=a-tree");
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new RedisStore.Provider().open(PatientDsn.redis(cluster.dsn()) + "&hash-tag=another-tree");
    }

    @Test
    void givenNoHashTag_whenATreeIsLocked_thenAClearErrorAndNothingTaken(Fixture fixture) {
        PersistingStore untagged = fixture.closing(new RedisStore.Provider().open(cluster.dsn()));
        TreeEditor editor = fixture.closing(
                        TreeLocks.of(untagged, fixture.resource()).create())
                .createEditor(PARENTS::get);

        assertThatThrownBy(() -> editor.acquire(TreeRequest.shared("child1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("hashTag(")
                .hasMessageContaining("different slots");

        assertThat(editor.held()).isEmpty();
    }

    @Test
    void givenTwoHashTags_whenTheSameTreeIsLocked_thenTheyDoNotMeet(Fixture fixture) {
        fixture.closing(tree(fixture).create()).createEditor(PARENTS::get).acquire(TreeRequest.exclusive("root"));
        TreeEditor other = fixture.closing(TreeLocks.of(fixture.separateStore(), fixture.resource())
                        .create())
                .createEditor(PARENTS::get);

        other.acquire(TreeRequest.exclusive("root"));

        assertThat(other.holdsExclusive("child1")).isTrue();
    }
}
