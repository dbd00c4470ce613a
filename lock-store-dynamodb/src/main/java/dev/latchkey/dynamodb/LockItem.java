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
 * @param holder the process of the holder
 */
record LockItem(
        long fence, long lastFence, String version, Optional<String> owner, Duration lease, Optional<String> holder) {

    static final String FENCE = "fence";
    static final String LAST_FENCE = "lastFence";
    static final String VERSION = "recordVersion";
    static final String OWNER = "ownerToken";
    static final String LEASE = "leaseMillis";
    static final String HOLDER = "heldBy";
    static final String EXPIRES = "expiresAt";

    /** Reads an item; empty if there is none. */
    static Optional<LockItem> of(Map<String, AttributeValue> item) {
        if (!item.containsKey(FENCE)) {
            return Optional.empty();
        }
        return Optional.of(new LockItem(
                number(item, FENCE),
                number(item, LAST_FENCE),
                text(item, VERSION).orElse(""),
                text(item, OWNER),
                Duration.ofMillis(item.containsKey(LEASE) ? number(item, LEASE) : 0),
                text(item, HOLDER)));
    }

    static long number(Map<String, AttributeValue> item, String name) {
        AttributeValue value = item.get(name);
        if (value == null || value.n() == null) {
            throw new IllegalStateException("an item of the table has no number " + name + ": it is not of this store");
        }
        return Long.parseLong(value.n());
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
