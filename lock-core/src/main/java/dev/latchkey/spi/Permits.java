package dev.latchkey.spi;

import dev.latchkey.Key;
import java.util.Objects;

/**
 * Some of the permits of a semaphore, as somebody asks for them. A {@link PermitStore} reads them from the resource of a key,
 * {@code exports (2 of 5 permits)}: so whatever shows the resource of a hold shows what is held.
 *
 * @param semaphore the name of the semaphore
 * @param count how many are asked for: from 1 to {@code limit}
 * @param limit how many permits the semaphore has, as the one who asks knows it: at least 1
 */
public record Permits(String semaphore, int count, int limit) {

    private static final String NOT_FOR_PERMITS = "not the resource of a key for permits of a semaphore";
    private static final String FROM = " (";
    private static final String OF = " of ";
    private static final String TO = " permits)";

    /**
     * Checks the numbers.
     *
     * @param semaphore the name of the semaphore
     * @param count how many are asked for
     * @param limit how many permits the semaphore has
     * @throws IllegalArgumentException if a number is out of range
     */
    public Permits {
        Objects.requireNonNull(semaphore, "semaphore");
        if (limit < 1) {
            throw new IllegalArgumentException("a semaphore needs at least 1 permit, but has " + limit);
        }
        if (count < 1 || count > limit) {
            throw new IllegalArgumentException(
                    "of " + limit + " permits, 1 to " + limit + " can be acquired at once, but not " + count);
        }
    }

    /**
     * Reads what a key is for.
     *
     * @param key a key whose resource is a {@link #resource()}
     * @return the permits that it names
     * @throws IllegalArgumentException if its resource is anything else
     */
    public static Permits of(Key key) {
        return parse(key.resource());
    }

    /**
     * Reads the resource of a key.
     *
     * @param resource as {@link #resource()} returns it
     * @return the permits that it names
     * @throws IllegalArgumentException if it is anything else
     */
    public static Permits parse(String resource) {
        int from = resource.lastIndexOf(FROM);
        int of = resource.indexOf(OF, Math.max(0, from));
        if (from < 0 || of < 0 || !resource.endsWith(TO)) {
            throw new IllegalArgumentException(NOT_FOR_PERMITS);
        }
        try {
            int count = Integer.parseInt(resource, from + FROM.length(), of, 10);
            int limit = Integer.parseInt(resource, of + OF.length(), resource.length() - TO.length(), 10);
            return new Permits(resource.substring(0, from), count, limit);
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            throw new IllegalArgumentException(NOT_FOR_PERMITS, e);
        }
    }

    /**
     * Returns the resource of a key for these permits.
     *
     * @return such as {@code exports (2 of 5 permits)}
     */
    public String resource() {
        return semaphore + FROM + count + OF + limit + TO;
    }
}
