package dev.latchkey.examples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spring.LockTemplate;
import dev.latchkey.spring.test.AutoConfigureLatchkey;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/** Without a database: locks are kept in memory. */
@SpringJUnitConfig
@AutoConfigureLatchkey
class StockTest {

    @Autowired
    private LockTemplate locks;

    @Test
    void givenNobodyHoldsIt_thenRuns() {
        assertThat(locks.tryRun("stock:pen", () -> {})).isTrue();
    }

    @Configuration(proxyBeanMethods = false)
    static class NothingElse {}
}
