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
     * @param retryAfter after which time the conflict is expected to end if nobody releases sooner; zero for no hint
     * @param isRecalled whether all that is in the way is as for {@link Response.Conflicted#isRecalled()}
     */
    record Conflicted(Set<String> resources, Duration retryAfter, boolean isRecalled) implements BatchAttempt {

        /**
         * Creates a conflict with ordinary holds.
         *
         * @param resources the resources that are held or waited for by others; at least one
         * @param retryAfter after which time the conflict is expected to end if nobody releases sooner; zero for no hint
         */
        public Conflicted(Set<String> resources, Duration retryAfter) {
            this(resources, retryAfter, false);
        }
    }

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
