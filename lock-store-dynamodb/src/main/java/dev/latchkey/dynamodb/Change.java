package dev.latchkey.dynamodb;

import dev.latchkey.Key;
import dev.latchkey.spi.LocalProcess;
import dev.latchkey.spi.Request;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * A conditional update of the item of a resource. Its version is random, and so tells the write from all others: a repetition of
 * it, by a client of the caller, fails on its condition and finds its own version. A renewal and a release name the
 * version that they replace, so a duplicate that arrives late changes nothing.
 *
 * @param version of the record after this change
 * @param lease how long its writer counts on it; zero after a release
 * @param expression what is written
 * @param condition when
 * @param values the values of both
 */
record Change(String version, Duration lease, String expression, String condition, Map<String, AttributeValue> values) {

    /** The number of tokens that an item may grant before it needs a new range. */
    static final long RANGE = 1_000_000;

    private static final String HOLDS =
            "recordVersion = :version, ownerToken = :owner, leaseMillis = :lease, heldBy = :holder";

    private static final String RELEASES = "SET recordVersion = :version, lastRelease = :version, expiresAt = :expires"
            + " REMOVE ownerToken, leaseMillis, heldBy";

    /** What is held is never cleaned: the clock of a client that is wrong must not end a hold. */
    private static final String NEVER_CLEANED = " REMOVE expiresAt";

    /** Grants the resource if it is free, or if its record has still the version whose holder is dead. */
    static Change acquire(Request request, Optional<String> dead) {
        Builder change = new Builder(request.ttl())
                .holder(request.key(), request.owner())
                .number(":one", 1);
        String free = "attribute_not_exists(ownerToken)";
        return change.build(
                "SET " + HOLDS + name(change, request) + ", fence = fence + :one" + NEVER_CLEANED,
                "fence < lastFence AND "
                        + dead.map(version -> "(" + free + " OR recordVersion = " + change.text(":dead", version) + ")")
                                .orElse(free));
    }

    /**
     * Grants the resource with the first token of a new range.
     *
     * @param last the last token of the range
     * @param seen the version that the record has still to have; empty if there was no item
     */
    static Change acquireInRange(Request request, long last, Optional<String> seen) {
        Builder change = new Builder(request.ttl()).holder(request.key(), request.owner());
        return change.number(":first", last - RANGE + 1)
                .number(":last", last)
                .build(
                        "SET " + HOLDS + name(change, request) + ", fence = :first, lastFence = :last" + NEVER_CLEANED,
                        seen.map(version -> "recordVersion = " + change.text(":seen", version))
                                .orElse("attribute_not_exists(fence)"));
    }

    /**
     * Renews what the key holds as it claims, if nobody has changed it since it was seen.
     *
     * @param seen the version that the record has still to have
     */
    static Change renew(Key key, String owner, Duration lease, OptionalLong claimed, String seen) {
        Builder change = new Builder(lease).holder(key, owner);
        String condition = "ownerToken = :owner AND recordVersion = " + change.text(":seen", seen);
        if (claimed.isPresent()) {
            change.number(":fence", claimed.getAsLong());
            condition += " AND fence = :fence";
        }
        return change.build("SET " + HOLDS + NEVER_CLEANED, condition);
    }

    /** Renews what the key holds if nobody has changed it since it was seen. */
    static Change renewSeen(Request request, Duration lease, LockItem seen) {
        return renew(request.key(), request.owner(), lease, OptionalLong.empty(), seen.version());
    }

    /** Renews what the key holds for as long as before, by this process, if nobody has changed it since it was seen. */
    static Change adopt(Key key, LockItem seen) {
        return renew(key, "", seen.lease(), OptionalLong.empty(), seen.version());
    }

    /**
     * Ends what the key holds, if nobody has changed it since it was seen. The item stays, for its token, and names this release
     * until the next one: its repetition may come after somebody else has acquired.
     *
     * @param seen the version that the record has still to have
     */
    static Change release(Key key, String seen) {
        Builder change = new Builder(Duration.ZERO).number(":expires", CleaningTime.fromNow());
        return change.build(
                RELEASES,
                "ownerToken = " + change.text(":owner", key.token()) + " AND recordVersion = "
                        + change.text(":seen", seen));
    }

    /** Ends the hold with a fencing token, whoever holds. No other hold has it, so a duplicate that arrives late has no effect. */
    static Change forceRelease(long fencingToken) {
        return new Builder(Duration.ZERO)
                .number(":expires", CleaningTime.fromNow())
                .number(":fence", fencingToken)
                .build(RELEASES, "attribute_exists(ownerToken) AND fence = :fence");
    }

    /** The name of a resource whose key has only its beginning, so that it can be listed. */
    private static String name(Builder change, Request request) {
        String resource = request.key().resource();
        return ItemKey.hasWholeName(resource) ? "" : ", " + LockItem.NAME + " = " + change.text(":name", resource);
    }

    /** Whether the item shows that this change took effect. */
    boolean wrote(LockItem item) {
        if (lease.isZero()) {
            return item.lastRelease().filter(version::equals).isPresent();
        }
        return item.version().equals(version)
                && item.owner().map(AttributeValue::fromS).equals(Optional.ofNullable(values.get(":owner")));
    }

    /** Without the token of the owner. */
    @Override
    public String toString() {
        return "Change[" + condition + "]";
    }

    /** Collects values; DynamoDB accepts none that are not used. */
    private static final class Builder {

        private static final int VERSION_BYTES = 12;

        /** Clones of a virtual machine that was snapshotted must not write the same versions. */
        private static final SecureRandom RANDOM = new SecureRandom();

        private final String version = newVersion();
        private final Duration lease;
        private final Map<String, AttributeValue> values = new HashMap<>();

        /** Rounded up: nobody must take the lease for over before the holder does. */
        Builder(Duration ttl) {
            this.lease = Duration.ofMillis(ttl.plusNanos(999_999).toMillis());
            values.put(":version", AttributeValue.fromS(version));
        }

        private static String newVersion() {
            byte[] random = new byte[VERSION_BYTES];
            RANDOM.nextBytes(random);
            return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
        }

        Builder holder(Key key, String owner) {
            number(":lease", lease.toMillis());
            values.put(":owner", AttributeValue.fromS(key.token()));
            values.put(":holder", AttributeValue.fromS(owner.isEmpty() ? LocalProcess.description() : owner));
            return this;
        }

        Builder number(String name, long value) {
            values.put(name, AttributeValue.fromN(Long.toString(value)));
            return this;
        }

        /** Adds a value and returns its name. */
        String text(String name, String value) {
            values.put(name, AttributeValue.fromS(value));
            return name;
        }

        Change build(String expression, String condition) {
            return new Change(version, lease, expression, condition, Map.copyOf(values));
        }
    }
}
