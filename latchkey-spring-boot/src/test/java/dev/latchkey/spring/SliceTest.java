package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spring.test.AutoConfigureLatchkey;
import dev.latchkey.store.InMemoryStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/** A test that has no auto-configuration of its own, as slices have not. */
@ExtendWith(SpringExtension.class)
@SpringBootTest(classes = SliceTest.Application.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
@AutoConfigureLatchkey
class SliceTest {

    private final Work work;
    private final PersistingStore store;

    SliceTest(@Autowired Work work, @Autowired PersistingStore store) {
        this.work = work;
        this.store = store;
    }

    @Test
    void givenNothingElse_thenLocksInMemory() {
        assertThat(work.resource()).isEqualTo("slice");
        assertThat(store).isInstanceOf(InMemoryStore.class);
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Work.class)
    static class Application {}

    static class Work {
        @Locked("'slice'")
        String resource() {
            return CurrentLock.get().resource();
        }
    }
}
