package dev.latchkey.dynamodb;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.net.URI;
import java.time.Duration;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.retry.RetryMode;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Opens stores and clients. */
final class Stores {

    private Stores() {}

    static DynamoDbStore open(String dsn) {
        return (DynamoDbStore) new DynamoDbStore.Provider().open(dsn);
    }

    /** A builder of a store with a client. The first request loads the classes of the SDK, however busy the machine is. */
    static DynamoDbStore.Builder builder(DynamoDbClient client, String table) {
        return DynamoDbStore.builder(client, table).timeout(TimeLimits.scaled(Duration.ofSeconds(5)));
    }

    /** A client as an application has one, with the repetitions that the SDK makes by default. */
    static DynamoDbClient client(ServerAddress address, ExecutionInterceptor... interceptors) {
        return DynamoDbClient.builder()
                .endpointOverride(URI.create("http://" + address))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
                .httpClientBuilder(UrlConnectionHttpClient.builder())
                .overrideConfiguration(options -> {
                    for (ExecutionInterceptor each : interceptors) {
                        options.addExecutionInterceptor(each);
                    }
                })
                .build();
    }

    /** A client of an application that has set how often it repeats. */
    static DynamoDbClient clientWithThreeTries(ServerAddress address) {
        return DynamoDbClient.builder()
                .endpointOverride(URI.create("http://" + address))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
                .httpClientBuilder(UrlConnectionHttpClient.builder())
                .overrideConfiguration(options -> options.retryStrategy(RetryMode.STANDARD))
                .build();
    }
}
