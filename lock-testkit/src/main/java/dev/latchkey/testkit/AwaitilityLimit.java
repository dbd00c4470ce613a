package dev.latchkey.testkit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Has Awaitility wait for {@link TimeLimits#LIMIT} where a test names no limit, instead of 10 s. JUnit finds it if
 * {@code junit.jupiter.extensions.autodetection.enabled} is true.
 */
public final class AwaitilityLimit implements BeforeAllCallback {

    /** Creates it for JUnit. */
    public AwaitilityLimit() {}

    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultTimeout(TimeLimits.LIMIT);
    }
}
