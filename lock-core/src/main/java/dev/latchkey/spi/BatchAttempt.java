package dev.latchkey.spi;

import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A store's answer to a batch of requests. But for {@link Granted}, all is as it was. */
public sealed interface BatchAttempt {

    /**
     * All are held as asked.
     *
     * @param grants in the order of the requests
     */
    record Granted(List<Response.Granted> grants) implements BatchAttempt {}

    /**
     * Some are held by others, or others wait for them.
     *
     * @param resources all of them, as far as the store can tell; at least one
     * @param retryAfter when asking again may first succeed; zero: no hint
     */
    record Conflicted(Set<String> resources, Duration retryAfter) implements BatchAttempt {}

    /**
     * Some are free, but were changed after what the caller knows.
     *
     * @param required the least {@linkplain StateCheck#known() index} that would do, by resource; at least one
     */
    record Stale(Map<String, Long> required) implements BatchAttempt {}

    /**
     * Some keys do not hold what they {@linkplain dev.latchkey.Key#held() claim}.
     *
     * @param reasons why, by resource; at least one
     */
    record Lost(Map<String, LossReason> reasons) implements BatchAttempt {}
}
