package dev.latchkey.spring;

import dev.latchkey.Capability;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.PersistingStore;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Looks at the store at the start, if the application uses locks; closes the factory at the end, when no web server and no
 * scheduler runs work under a lock any more, and the pools and clients are still open that releases need.
 */
final class LatchkeyLifecycle implements SmartLifecycle {

    /** Of the beans that are opened by who needs them first. */
    static final String FACTORY = "latchkeyLockFactory";

    static final String STORE = "latchkeyStore";
    static final String TEMPLATE = "latchkeyLockTemplate";

    /** Clients stop in phase 0, schedulers in half of the greatest, web servers before. */
    private static final int PHASE = 1_024;

    private static final String PROBE = "latchkey:probe";

    private final ConfigurableApplicationContext context;
    private final StoreChoice choice;
    private final LockedMethods methods;
    private final ContextFactories factories;
    private final LatchkeyProperties properties;
    private volatile boolean running;

    LatchkeyLifecycle(
            ConfigurableApplicationContext context,
            StoreChoice choice,
            LockedMethods methods,
            ContextFactories factories,
            LatchkeyProperties properties) {
        this.context = context;
        this.choice = choice;
        this.methods = methods;
        this.factories = factories;
        this.properties = properties;
    }

    @Override
    public void start() {
        // Refuses a choice that cannot be made, also where nothing is locked yet.
        String unused = description();
        if (isUsed() || (choosesStore() && choice.isDsn())) {
            checkUnique(LockFactory.class);
            checkUnique(PersistingStore.class);
            checkDurations();
            if (properties.failFast()) {
                context.getBeanProvider(PersistingStore.class).ifUnique(this::look);
            }
        }
        running = true;
    }

    /** Whether the application has left the store to the auto-configuration. */
    private boolean choosesStore() {
        return context.containsBeanDefinition(STORE);
    }

    private String description() {
        return choosesStore() ? choice.description() : "that of the application";
    }

    private boolean isUsed() {
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        return !methods.all().isEmpty() || beans.containsSingleton(FACTORY) || beans.containsSingleton(TEMPLATE);
    }

    private void look(PersistingStore store) {
        try {
            Object unused = store.find(Key.of(PROBE));
        } catch (LockStorageException e) {
            throw new LatchkeyConfigurationException(
                    "Latchkey cannot reach the store of its locks, " + description() + ": " + e.getMessage() + ".",
                    "Start it, or correct its address and its credentials. To start without it, set latchkey.fail-fast=false: each"
                            + " call of a locked method then fails until it is there.",
                    e);
        }
    }

    /** The first call would find out, perhaps at night. The factory of the application may have another store than beans are. */
    private void checkUnique(Class<?> type) {
        String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(context, type, true, false);
        boolean isWanted = type == LockFactory.class || context.containsBeanDefinition(FACTORY);
        if (isWanted && names.length > 1 && context.getBeanProvider(type).getIfUnique() == null) {
            throw new LatchkeyConfigurationException(
                    "The application has several beans of type " + type.getSimpleName() + ", "
                            + String.join(", ", names) + ", and none of them is primary: locks could be kept in any.",
                    "Mark one with @Primary.");
        }
    }

    private void checkDurations() {
        LockFactory factory = context.getBean(LockFactory.class);
        try {
            Lock unused = LockSettings.waiting(properties.ttl())
                    .apply(factory.lock(PROBE))
                    .create();
        } catch (IllegalArgumentException e) {
            throw new LatchkeyConfigurationException(
                    "latchkey.ttl is no TTL of a lock: " + e.getMessage() + ".", "Correct latchkey.ttl, as in 30s.", e);
        }
        methods.all().forEach(locked -> checkDurations(locked, factory));
    }

    private void checkDurations(LockedMethod locked, LockFactory factory) {
        if (locked.settings().permits() > 0 && !factory.supports(Capability.SEMAPHORES)) {
            throw LockedMethodParser.wrong(
                    locked.method(),
                    "its permits need a store with semaphores, and " + description() + " has none",
                    "Use jdbc or redis, or leave out the permits.");
        }
        try {
            Lock unused = locked.settings().apply(factory.lock(PROBE)).create();
        } catch (UnsupportedOperationException e) {
            throw LockedMethodParser.wrong(
                    locked.method(),
                    "its minHold needs a store with leases, and " + description() + " has none",
                    "Use a store with leases, such as jdbc, redis or mongodb, or leave out the minHold.");
        } catch (IllegalArgumentException e) {
            throw LockedMethodParser.wrong(
                    locked.method(), String.valueOf(e.getMessage()), "Correct the ttl, the minHold or the maxHold.");
        }
    }

    /** A context that is only stopped may be started again, with the same factory. */
    @Override
    public void stop() {
        if (context.isClosed()) {
            factories.close();
            choice.close();
        }
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** What runs in a context that is paused between tests keeps its locks. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
