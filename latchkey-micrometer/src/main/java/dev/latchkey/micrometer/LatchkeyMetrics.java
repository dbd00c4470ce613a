package dev.latchkey.micrometer;

import dev.latchkey.LockListener;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;

/**
 * Counts and times what the locks of a factory do.
 *
 * <p>Each meter has the tag {@code store}. Those of single locks have the tag {@code group} as well, by which the application
 * summarizes them: the name of a resource is never a tag unless the application says so, because each value of a tag is a time
 * series of its own.
 *
 * <p>Those with the same registry and the same name of a store count together, also if they belong to several factories.
 *
 * <p>Thread-safe.
 */
public final class LatchkeyMetrics implements LockListener {

    private final Meters meters;
    private final Function<? super String, String> group;

    private LatchkeyMetrics(Builder options) {
        this.meters = new Meters(options.registry, options.store);
        this.group = options.group;
    }

    /**
     * Returns a builder.
     *
     * @param registry where the meters are
     * @return a builder without groups
     */
    public static Builder builder(MeterRegistry registry) {
        return new Builder(Objects.requireNonNull(registry, "registry"));
    }

    @Override
    public void acquiring(Acquiring event) {
        group(event.resource()).waiting().incrementAndGet();
    }

    @Override
    public void acquired(Acquired event) {
        ended(event.resource(), Meters.text(event.mode()), "acquired", event.waited());
    }

    @Override
    public void conflicted(Conflicted event) {
        ended(event.resource(), Meters.text(event.mode()), "conflicted", event.waited());
    }

    @Override
    public void failed(Failed event) {
        String outcome = event.failure() instanceof InterruptedException ? "interrupted" : "failed";
        ended(event.resource(), Meters.text(event.mode()), outcome, event.waited());
    }

    private void ended(String resource, String mode, String outcome, Duration waited) {
        Meters.Group counted = group(resource);
        counted.waiting().decrementAndGet();
        meters.acquire(counted.name(), mode, outcome).record(waited);
    }

    @Override
    public void held(Held event) {
        group(event.resource()).held().incrementAndGet();
    }

    @Override
    public void released(Released event) {
        ended(event.resource(), Meters.text(event.end()), event.held());
    }

    @Override
    public void lost(Lost event) {
        ended(event.resource(), Meters.text(event.reason()), event.held());
    }

    private void ended(String resource, String end, Duration held) {
        Meters.Group counted = group(resource);
        counted.held().decrementAndGet();
        meters.hold(counted.name(), end).record(held);
    }

    @Override
    public void renewed(Renewed event) {
        meters.slack(group(event.resource()).name()).record(event.slack());
    }

    @Override
    public void storeCalled(StoreCalled event) {
        meters.storeCall(Meters.text(event.operation()), Meters.text(event.outcome()))
                .record(event.duration());
    }

    @Override
    public void dropped(Dropped event) {
        meters.dropped().increment((double) event.events());
    }

    private Meters.Group group(String resource) {
        return meters.group(named(resource));
    }

    /** A function that fails must not cost the counts. */
    private String named(String resource) {
        try {
            String name = group.apply(resource);
            return name == null || name.isEmpty() ? Builder.NO_GROUP : name;
        } catch (RuntimeException e) {
            return Builder.NO_GROUP;
        }
    }

    /** Options. Not thread-safe. */
    public static final class Builder {

        private static final String NO_GROUP = "none";

        private final MeterRegistry registry;
        private String store = "default";
        private Function<? super String, String> group = resource -> NO_GROUP;

        private Builder(MeterRegistry registry) {
            this.registry = registry;
        }

        /**
         * Sets the tag {@code store} of all meters.
         *
         * @param name such as {@code redis}; the default is {@code default}
         * @return this
         */
        public Builder store(String name) {
            this.store = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Sets what the locks are summarized by.
         *
         * @param ofResource returns the group of a resource, of which there should be few: it is called for each event, and
         *     {@code resource -> resource} makes a time series for each lock. The default is {@code none} for all, as is the
         *     group of a resource for which it throws or returns nothing
         * @return this
         */
        public Builder group(Function<? super String, String> ofResource) {
            this.group = Objects.requireNonNull(ofResource, "ofResource");
            return this;
        }

        /**
         * Creates the listener, for {@link dev.latchkey.LockFactory.Builder#listener}.
         *
         * @return a listener that counts
         */
        public LatchkeyMetrics build() {
            return new LatchkeyMetrics(this);
        }
    }
}
