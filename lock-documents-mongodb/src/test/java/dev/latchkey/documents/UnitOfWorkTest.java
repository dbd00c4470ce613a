package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Attempts of one work, of which the last is committed. */
class UnitOfWorkTest {

    private final Map<String, Object> memory = UnitOfWork.memory();
    private final List<String> done = new ArrayList<>();

    @Test
    void givenRepeatedAttempts_whenCommitted_thenHooksOfTheCommittedOneRunOnceInOrder() {
        UnitOfWork aborted = new UnitOfWork(null, memory);
        aborted.afterCommit(() -> done.add("aborted"));
        UnitOfWork committed = new UnitOfWork(null, memory);
        committed.afterCommit(() -> done.add("first"));
        committed.afterCommit(() -> done.add("second"));
        assertThat(done).as("before the commit").isEmpty();

        committed.committed();

        assertThat(done).containsExactly("first", "second");
    }

    @Test
    void givenRepeatedAttempts_whenDoneOnce_thenCalledOnceAndItsValueStays() {
        AtomicInteger calls = new AtomicInteger();

        int first = new UnitOfWork(null, memory).once("number", calls::incrementAndGet);
        int again = new UnitOfWork(null, memory).once("number", calls::incrementAndGet);
        int another = new UnitOfWork(null, memory).once("another", calls::incrementAndGet);

        assertThat(List.of(first, again, another)).containsExactly(1, 1, 2);
    }

    /** C16: a hook that gave null was called again. */
    @Test
    void givenAHookThatGivesNull_whenDoneOnce_thenCalledOnceAllTheSame() {
        Map<String, Object> attempts = UnitOfWork.memory();
        AtomicInteger calls = new AtomicInteger();
        for (int attempt = 0; attempt < 3; attempt++) {
            Object nothing = new UnitOfWork(null, attempts).once("mail", () -> {
                calls.incrementAndGet();
                return null;
            });
            assertThat(nothing).isNull();
        }
        assertThat(calls).hasValue(1);
    }

    @Test
    void givenHookThatFails_whenCommitted_thenTheOthersRunAndTheCallerLearnsThatAllIsCommitted() {
        UnitOfWork unit = new UnitOfWork(null, memory);
        unit.afterCommit(() -> {
            throw new IllegalArgumentException("no mail");
        });
        unit.afterCommit(() -> done.add("second"));

        assertThatThrownBy(unit::committed)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("committed")
                .hasRootCauseMessage("no mail");
        assertThat(done).containsExactly("second");
    }
}
