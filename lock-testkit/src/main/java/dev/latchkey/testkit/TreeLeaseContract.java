package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.tree.PullRequiredException;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeRequest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The locks of a dead editor end with their lease, and one that lives is told. */
@ContractFor({ExpiringStore.class, BatchStore.class})
public interface TreeLeaseContract extends TreeLocksContract {

    @Test
    @Tag("slow")
    default void givenNotRefreshed_whenTheLeaseIsOver_thenTheEditorIsToldOnceAndHoldsNothing(Fixture fixture) {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        TreeEditor editor = TreeEditors.create(fixture, tree(fixture).ttl(Leases.ROOMY_TTL));
        editor.onLost(told::add);
        editor.acquire(TreeRequest.exclusive("child1"));

        await().atMost(TimeLimits.LIMIT).until(() -> !told.isEmpty());

        assertThat(told).containsExactly(LossReason.EXPIRED);
        assertThat(editor.holdsExclusive("child1")).isFalse();
        assertThat(editor.held()).isEmpty();
        assertThatThrownBy(() -> editor.checkExclusive("child1")).isInstanceOf(LockLostException.class);
        assertThatThrownBy(() -> editor.acquire(TreeRequest.shared("dictionary")))
                .isInstanceOf(LockLostException.class);
        editor.releaseAll();
        editor.acquire(TreeRequest.shared("dictionary"));
        assertThat(editor.holdsShared("dictionary")).isTrue();
        assertThat(told).hasSize(1);
    }

    @Test
    @Tag("slow")
    default void givenEditorDied_whenItsLeaseIsOver_thenOthersMayLock(Fixture fixture) throws InterruptedException {
        TreeEditor dead = TreeEditors.create(fixture, tree(fixture).ttl(Leases.ROOMY_TTL));
        dead.acquire(TreeRequest.exclusive("root"));
        TreeEditor editor = TreeEditors.create(fixture, tree(fixture));

        editor.acquire(TreeRequest.exclusive("child1"), Leases.ROOMY_TTL.plus(TimeLimits.LIMIT));

        assertThat(editor.holdsExclusive("child1")).isTrue();
        assertThat(dead.holdsExclusive("child1")).isFalse();
        dead.releaseAll();
        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenEditorPushedAndDiedHolding_whenItsLeaseIsOver_thenOthersHaveToPull(Fixture fixture)
            throws InterruptedException {
        TreeEditor dead = TreeEditors.create(fixture, tree(fixture).ttl(Leases.ROOMY_TTL));
        dead.acquire(TreeRequest.exclusive("child1"));
        dead.pushedRetaining(1);
        TreeEditor editor = TreeEditors.create(fixture, tree(fixture));

        assertThatThrownBy(
                        () -> editor.acquire(TreeRequest.exclusive("child1"), Leases.ROOMY_TTL.plus(TimeLimits.LIMIT)))
                .isInstanceOf(PullRequiredException.class);
        dead.releaseAll();
    }

    @Test
    @Tag("slow")
    default void givenLost_whenPushed_thenRecordedAndTold(Fixture fixture) {
        TreeEditor author = TreeEditors.create(fixture, tree(fixture).ttl(Leases.ROOMY_TTL));
        author.acquire(TreeRequest.exclusive("child1"));
        await().atMost(TimeLimits.LIMIT).until(() -> author.held().isEmpty());

        assertThatThrownBy(() -> author.pushed(1)).isInstanceOf(LockLostException.class);

        TreeEditor editor = TreeEditors.create(fixture, tree(fixture));
        assertThatThrownBy(
                        () -> editor.acquire(TreeRequest.exclusive("child1"), Leases.ROOMY_TTL.plus(TimeLimits.LIMIT)))
                .isInstanceOf(PullRequiredException.class);
    }

    @Test
    @Tag("slow")
    default void givenAutoRefresh_whenTheTtlIsOverSeveralTimes_thenStillHeld(Fixture fixture) {
        TreeEditor editor =
                TreeEditors.create(fixture, tree(fixture).ttl(Leases.ROOMY_TTL).autoRefresh());
        editor.acquire(TreeRequest.exclusive("child1"));
        TreeEditor rival = TreeEditors.create(fixture, tree(fixture));

        assertThatThrownBy(() -> rival.acquire(TreeRequest.exclusive("child1"), Leases.ROOMY_TTL.multipliedBy(2)))
                .isInstanceOf(TreeConflictException.class);

        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    default void givenHeld_whenRefreshed_thenHeldLonger(Fixture fixture) {
        TreeEditor editor = TreeEditors.create(fixture, tree(fixture));
        editor.refresh();
        editor.acquire(TreeRequest.exclusive("child1"));

        editor.refresh();

        assertThat(editor.holdsExclusive("child1")).isTrue();
    }
}
