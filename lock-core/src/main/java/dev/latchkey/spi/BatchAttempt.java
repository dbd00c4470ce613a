package dev.latchkey.spi;

import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The answer of a store to a batch of requests. Unless it is {@link Granted}, nothing has changed. */
public sealed interface BatchAttempt {

    /**
     * All resources are held as requested.
     *
     * @param grants the grants, in the order of the requests
     */
    record Granted(List<Response.Granted> grants) implements BatchAttempt {}

    /**
     * Some resources are held by other keys, or other keys wait for them.
     *
     * @param resources all such resources that the store knows of; at least one
     * @param retryAfter when the next attempt can succeed at the earliest; zero for no hint
     */
    record Conflicted(Set<String> resources, Duration retryAfter) implements BatchAttempt {}

    /**
     * Some resources are free, but were changed after the state that the caller knows.
     *
     * @param required the smallest sufficient {@linkplain StateCheck#known() index} for each such resource; at least one
     */
    record Stale(Map<String, Long> required) implements BatchAttempt {}

    /**
     * Some keys do not hold what they {@linkplain dev.latchkey.Key#held() claim} to hold.
     *
     * @param reasons the reason for each such resource; at least one
     */
    record Lost(Map<String, LossReason> reasons) implements BatchAttempt {}
}
