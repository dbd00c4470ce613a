package dev.latchkey.spring;

import dev.latchkey.Key;
import dev.latchkey.spi.PersistingStore;
import java.util.function.Supplier;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Up if the store answers, within its own time limit. */
final class LatchkeyHealthIndicator extends AbstractHealthIndicator {

    private static final Key PROBE = Key.of("latchkey:probe");

    private final Supplier<PersistingStore> store;

    LatchkeyHealthIndicator(Supplier<PersistingStore> store) {
        super("the store of locks does not answer");
        this.store = store;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        PersistingStore opened = store.get();
        Object unused = opened.find(PROBE);
        health.up().withDetail("store", StoreName.typeOf(opened));
    }
}
