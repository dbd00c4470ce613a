package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.store.InMemoryStore;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class MemberTest {

    /** It may have come to the store: to say that nothing was sent would leave there what it took. */
    @Test
    void givenACallThatHangs_whenClosed_thenItIsInDoubtAndNamesItsResource() {
        Member member = new Member(1, new InMemoryStore());
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        CompletableFuture<Boolean> call = member.call(Key.of("orders"), end::join);

        var unused = member.close(1).join();

        Throwable failure = catchThrowable(call::join).getCause();
        assertThat(failure).isInstanceOfSatisfying(LockStorageException.class, storage -> {
            assertThat(storage.failure()).isEqualTo(Failure.IN_DOUBT);
            assertThat(storage).hasMessageContaining("orders");
        });
        end.complete(true);
    }
}
