package dev.latchkey.dynamodb;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import software.amazon.awssdk.core.exception.SdkServiceException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;

/** Opens clients for DSNs and regions. */
final class Clients {

    private static final int ATTEMPTS = 4;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private Clients() {}

    static DynamoDbClient open(String region, Optional<URI> endpoint, Duration timeout) {
        DynamoDbClientBuilder builder = DynamoDbClient.builder()
                .region(Region.of(region))
                .httpClientBuilder(UrlConnectionHttpClient.builder()
                        .connectionTimeout(timeout)
                        .socketTimeout(timeout))
                .overrideConfiguration(options -> options.retryStrategy(withoutEffect()));
        endpoint.ifPresent(builder::endpointOverride);
        return builder.build();
    }

    /**
     * Repeats only what DynamoDB has throttled, or has refused for its time, which the SDK then corrects: that had no effect. A request that was not answered may still be on its way, and
     * take effect after its repetition was answered.
     */
    private static StandardRetryStrategy withoutEffect() {
        BackoffStrategy pauses = BackoffStrategy.exponentialDelay(FIRST_PAUSE, LONGEST_PAUSE);
        return DefaultRetryStrategy.standardStrategyBuilder()
                .maxAttempts(ATTEMPTS)
                // Otherwise the client adds what it repeats by default: whatever failed on the way, and server errors.
                .useClientDefaults(false)
                .retryOnException(Clients::hasNoEffect)
                .treatAsThrottling(Clients::isThrottled)
                .backoffStrategy(pauses)
                .throttlingBackoffStrategy(pauses)
                .build();
    }

    private static boolean hasNoEffect(Throwable failure) {
        return isThrottled(failure) || (failure instanceof SdkServiceException answer && answer.isClockSkewException());
    }

    private static boolean isThrottled(Throwable failure) {
        return failure instanceof SdkServiceException answer && answer.isThrottlingException();
    }
}
