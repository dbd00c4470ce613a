package dev.latchkey.dynamodb;

import java.time.Duration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/** Creates the table: one string as its key, paid for by request, with DynamoDB's cleaning by the time to live. */
final class Tables {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final DynamoDbClient client;
    private final Calls calls;
    private final String table;

    Tables(DynamoDbClient client, Calls calls, String table) {
        this.client = client;
        this.calls = calls;
        this.table = table;
    }

    /** Creates the table unless it is there, and waits until it can be used. */
    void create(String resource) {
        Object unused = calls.call(
                resource,
                () -> {
                    createUnlessThere();
                    client.waiter()
                            .waitUntilTableExists(
                                    request -> request.tableName(table), waiting -> waiting.waitTimeout(LIMIT));
                    enableCleaning();
                    return true;
                },
                LIMIT.multipliedBy(2));
    }

    private void createUnlessThere() {
        try {
            client.createTable(request -> request.tableName(table)
                    .billingMode(BillingMode.PAY_PER_REQUEST)
                    .attributeDefinitions(AttributeDefinition.builder()
                            .attributeName(ItemKey.ATTRIBUTE)
                            .attributeType(ScalarAttributeType.S)
                            .build())
                    .keySchema(KeySchemaElement.builder()
                            .attributeName(ItemKey.ATTRIBUTE)
                            .keyType(KeyType.HASH)
                            .build()));
        } catch (ResourceInUseException e) {
            // It is there, or somebody else creates it now.
        }
    }

    private void enableCleaning() {
        try {
            client.updateTimeToLive(request -> request.tableName(table)
                    .timeToLiveSpecification(ttl -> ttl.enabled(true).attributeName(LockItem.EXPIRES)));
        } catch (DynamoDbException e) {
            // "TimeToLive is already enabled" is a validation error like any other.
            if (e.awsErrorDetails() == null
                    || !"ValidationException".equals(e.awsErrorDetails().errorCode())) {
                throw e;
            }
        }
    }
}
