package dev.latchkey.benchmarks;

import com.amazonaws.services.dynamodbv2.AcquireLockOptions;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBLockClient;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBLockClientOptions;
import com.amazonaws.services.dynamodbv2.LockItem;
import dev.latchkey.LockFactory;
import dev.latchkey.dynamodb.DynamoDbStore;
import dev.latchkey.servers.DynamoDbServer;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.provider.dynamodb2.DynamoDBLockProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/**
 * The DynamoDB store beside the lock client of AWS, ShedLock and the two bare requests, all with clients of the same kind. What
 * is compared is what each sends and how long its own code takes: the server is not DynamoDB, and no network is between.
 */
final class DynamoDb implements Contest {

    private static final String OURS = "latchkey";
    private static final String KEY = "id";
    private static final String BARE = "bare";
    private static final String AWS = "aws";
    private static final String SHED_LOCK = "shedlock";

    /** Of the peers' tables, what their documentation names. */
    private static final Map<String, String> TABLES = Map.of(BARE, KEY, AWS, "key", SHED_LOCK, "_id");

    private static final String WITHOUT = "waiting (asks every 5 ms), fencing token, end of a dead holder";

    private static final List<Contender> ALL = List.of(
            Contender.latchkey(address -> Ours.exclusive(new LockFactory(store(address)))),
            Contender.floor("put if absent + delete if owned", WITHOUT, address -> bare(client(address))),
            Contender.peer(
                    "AWS lock client",
                    "waiting (asks every 5 ms, by default every second), fencing token",
                    address -> aws(client(address))),
            Contender.peer(
                    ShedLock.TITLE,
                    ShedLock.WITHOUT,
                    address -> ShedLock.cycles(new DynamoDBLockProvider(client(address), SHED_LOCK))));

    @Override
    public String store() {
        return "dynamodb";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    /** Within the usual time neither the SDK nor the server is compiled. */
    @Override
    public List<Table> tables() {
        return List.of(
                Table.alone(Placement.ONE_PROCESSOR, ALL).warmedTimes(3),
                Table.threads(Placement.ONE_PROCESSOR, ALL).warmedTimes(3));
    }

    @Override
    public Servers start() {
        DynamoDbServer server = DynamoDbServer.start();
        String address = server.address().toString();
        try (DynamoDbClient client = client(address);
                DynamoDbStore store = store(address)) {
            store.createTable();
            TABLES.forEach((table, key) -> create(client, table, key));
        }
        return new Servers(address, "dynalite 4.0.0: not DynamoDB itself", null, server::close);
    }

    private static void create(DynamoDbClient client, String table, String key) {
        client.createTable(request -> request.tableName(table)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(AttributeDefinition.builder()
                        .attributeName(key)
                        .attributeType(ScalarAttributeType.S)
                        .build())
                .keySchema(KeySchemaElement.builder()
                        .attributeName(key)
                        .keyType(KeyType.HASH)
                        .build()));
        client.waiter().waitUntilTableExists(request -> request.tableName(table));
    }

    private static DynamoDbStore store(String address) {
        return DynamoDbStore.builder(client(address), OURS).build();
    }

    private static DynamoDbClient client(String address) {
        return DynamoDbClient.builder()
                .endpointOverride(URI.create("http://" + address))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("any", "any")))
                .httpClientBuilder(UrlConnectionHttpClient.builder())
                .build();
    }

    private static Contender.Client bare(DynamoDbClient client) {
        return resource -> new Cycle() {
            private final Map<String, AttributeValue> key = Map.of(KEY, AttributeValue.fromS(resource));
            private AttributeValue token = AttributeValue.fromS("");

            @Override
            public void take() throws Exception {
                token = AttributeValue.fromS(UUID.randomUUID().toString());
                Cycle.poll(this::isPut);
            }

            private boolean isPut() {
                try {
                    client.putItem(request -> request.tableName(BARE)
                            .item(Map.of(KEY, AttributeValue.fromS(resource), "token", token))
                            .conditionExpression("attribute_not_exists(id)"));
                    return true;
                } catch (ConditionalCheckFailedException e) {
                    return false;
                }
            }

            @Override
            public boolean giveUp() {
                client.deleteItem(request -> request.tableName(BARE)
                        .key(key)
                        .conditionExpression("#token = :token")
                        .expressionAttributeNames(Map.of("#token", "token"))
                        .expressionAttributeValues(Map.of(":token", token)));
                return true;
            }
        };
    }

    /** It renews in the background, three times in a lease, as its documentation advises. */
    private static Contender.Client aws(DynamoDbClient client) {
        long leaseMillis = Ours.TTL.toMillis();
        AmazonDynamoDBLockClient locks =
                new AmazonDynamoDBLockClient(AmazonDynamoDBLockClientOptions.builder(client, AWS)
                        .withTimeUnit(TimeUnit.MILLISECONDS)
                        .withLeaseDuration(leaseMillis)
                        .withHeartbeatPeriod(leaseMillis / 3)
                        .withCreateHeartbeatBackgroundThread(true)
                        .build());
        return resource -> new Cycle() {
            private Optional<LockItem> lock = Optional.empty();

            @Override
            public void take() throws InterruptedException {
                lock = Optional.of(locks.acquireLock(AcquireLockOptions.builder(resource)
                        .withTimeUnit(TimeUnit.MILLISECONDS)
                        .withRefreshPeriod(TimeUnit.NANOSECONDS.toMillis(Cycle.POLL_NANOS))
                        .withAdditionalTimeToWaitForLock(TimeUnit.HOURS.toMillis(1))
                        .build()));
            }

            @Override
            public boolean giveUp() {
                return locks.releaseLock(lock.orElseThrow());
            }
        };
    }

    @Override
    public List<String> libraries() {
        return List.of("dynamodb", "url-connection-client", "dynamodb-lock-client", "shedlock-provider-dynamodb2");
    }
}
