package dev.latchkey.dynamodb;

import dev.latchkey.Key;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * What the item of a resource says.
 *
 * @param fence the fencing token of the hold, or of the last one
 * @param lastFence the last token that this item may grant before it needs a new range
 * @param version of the record: another one after each write
 * @param owner the token of the key that holds; empty if the resource is free
 * @param lease how long the holder may be silent
 * @param holder the owner name of the holder, or its process
 * @param lastRelease the version that the last release wrote
 */
record LockItem(
        long fence,
        long lastFence,
        String version,
        Optional<String> owner,
        Duration lease,
        Optional<String> holder,
        Optional<String> lastRelease) {

    static final String FENCE = "fence";
    static final String LAST_FENCE = "lastFence";
    static final String VERSION = "recordVersion";
    static final String OWNER = "ownerToken";
    static final String LEASE = "leaseMillis";
    static final String HOLDER = "heldBy";
    static final String LAST_RELEASE = "lastRelease";
    static final String EXPIRES = "expiresAt";
    static final String NAME = "fullName";

    /** Reads an item; empty if there is none. */
    static Optional<LockItem> of(String resource, Map<String, AttributeValue> item) {
        if (!item.containsKey(FENCE)) {
            return Optional.empty();
        }
        return Optional.of(new LockItem(
                number(resource, item, FENCE),
                number(resource, item, LAST_FENCE),
                text(item, VERSION).orElse(""),
                text(item, OWNER),
                Duration.ofMillis(item.containsKey(LEASE) ? number(resource, item, LEASE) : 0),
                text(item, HOLDER),
                text(item, LAST_RELEASE)));
    }

    static long number(String resource, Map<String, AttributeValue> item, String name) {
        AttributeValue value = item.get(name);
        if (value == null || value.n() == null) {
            throw Failures.foreignItem(resource, name);
        }
        try {
            return Long.parseLong(value.n());
        } catch (NumberFormatException e) {
            throw Failures.foreignItem(resource, name);
        }
    }

    private static Optional<String> text(Map<String, AttributeValue> item, String name) {
        return Optional.ofNullable(item.get(name)).map(AttributeValue::s);
    }

    boolean isFree() {
        return owner.isEmpty();
    }

    boolean isHeldBy(Key key) {
        return owner.filter(key.token()::equals).isPresent();
    }

    boolean hasTokens() {
        return fence < lastFence;
    }

    /** Without the token of the owner. */
    @Override
    public String toString() {
        return "LockItem[fence=" + fence + (isFree() ? "" : ", held") + "]";
    }
}
