package dev.latchkey.dynamodb;

import dev.latchkey.LockStorageException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/** Reads and changes items of the table, by one request each. */
final class Items {

    /** What came of a change. */
    sealed interface Result {

        /** The item after the change. */
        record Done(LockItem item) implements Result {}

        /** The item that did not meet the condition; empty if there is none. */
        record Refused(Optional<LockItem> item) implements Result {}
    }

    private final DynamoDbClient client;
    private final Calls calls;
    private final String table;
    private final Optional<Tables> missingTable;

    /**
     * Creates the access to a table.
     *
     * @param missingTable creates the table if it is not there; empty if that is a failure
     */
    Items(DynamoDbClient client, Calls calls, String table, Optional<Tables> missingTable) {
        this.client = client;
        this.calls = calls;
        this.table = table;
        this.missingTable = missingTable;
    }

    /** Reads what all writes before this call have left. */
    Optional<LockItem> read(String resource, String item) {
        GetItemRequest request = GetItemRequest.builder()
                .tableName(table)
                .key(ItemKey.attributes(item))
                .consistentRead(true)
                .overrideConfiguration(calls.limit())
                .build();
        return LockItem.of(
                resource, inTable(resource, () -> client.getItem(request)).item());
    }

    Result change(String resource, String item, Change change) {
        UpdateItemRequest request = update(item)
                .updateExpression(change.expression())
                .conditionExpression(change.condition())
                .expressionAttributeValues(change.values())
                .returnValues(ReturnValue.ALL_NEW)
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
                .build();
        try {
            return new Result.Done(LockItem.of(
                            resource,
                            inTable(resource, () -> client.updateItem(request)).attributes())
                    .orElseThrow(() -> Failures.foreignItem(resource, LockItem.FENCE)));
        } catch (ConditionalCheckFailedException e) {
            Optional<LockItem> there = LockItem.of(resource, e.item());
            return there.filter(change::wrote).<Result>map(Result.Done::new).orElseGet(() -> new Result.Refused(there));
        }
    }

    /**
     * What a scan has read.
     *
     * @param next the key of the last item that was looked at, to go on after it; empty at the end of the table
     */
    record Page(List<Named> items, Optional<String> next) {}

    /** An item, with its key and the name of its resource. */
    record Named(String key, String resource, LockItem item) {}

    /** Reads items that are held and whose resources begin with a prefix, of a number of items after a key. */
    Page scan(String prefix, Optional<String> after, int items) {
        Map<String, AttributeValue> values = new HashMap<>();
        values.put(":start", AttributeValue.fromS(ItemKey.startingWith(prefix)));
        // An empty text begins everything, but not every server accepts one.
        String longName = prefix.isEmpty() ? "attribute_exists(%s)" : "begins_with(%s, :prefix)";
        if (!prefix.isEmpty()) {
            values.put(":prefix", AttributeValue.fromS(prefix));
        }
        ScanRequest.Builder request = ScanRequest.builder()
                .tableName(table)
                .consistentRead(true)
                .limit(items)
                .filterExpression("attribute_exists(ownerToken) AND (begins_with(#resource, :start) OR "
                        + longName.formatted(LockItem.NAME) + ")")
                .expressionAttributeNames(Map.of("#resource", ItemKey.ATTRIBUTE))
                .expressionAttributeValues(values)
                .overrideConfiguration(calls.limit());
        after.ifPresent(key -> request.exclusiveStartKey(ItemKey.attributes(key)));
        ScanResponse answer = inTable(prefix, () -> client.scan(request.build()));
        List<Named> found = new ArrayList<>();
        for (Map<String, AttributeValue> item : answer.items()) {
            String key = Objects.requireNonNull(item.get(ItemKey.ATTRIBUTE)).s();
            String resource = ItemKey.nameIn(key)
                    .orElseGet(() ->
                            Objects.requireNonNull(item.get(LockItem.NAME)).s());
            LockItem.of(resource, item).ifPresent(there -> found.add(new Named(key, resource, there)));
        }
        return new Page(
                found,
                Optional.ofNullable(answer.lastEvaluatedKey().get(ItemKey.ATTRIBUTE))
                        .map(AttributeValue::s));
    }

    /** Takes a range of tokens that no item has had, and returns its last one. */
    long newRange(String resource) {
        UpdateItemRequest request = update(ItemKey.TOKENS)
                .updateExpression("ADD lastFence :range")
                .expressionAttributeValues(Map.of(":range", AttributeValue.fromN(Long.toString(Change.RANGE))))
                .returnValues(ReturnValue.UPDATED_NEW)
                .build();
        return LockItem.number(
                resource, inTable(resource, () -> client.updateItem(request)).attributes(), LockItem.LAST_FENCE);
    }

    private UpdateItemRequest.Builder update(String item) {
        return UpdateItemRequest.builder()
                .tableName(table)
                .key(ItemKey.attributes(item))
                .overrideConfiguration(calls.limit());
    }

    private <T> T inTable(String resource, Supplier<T> call) {
        try {
            return calls.call(resource, call);
        } catch (LockStorageException e) {
            if (missingTable.isEmpty() || !(e.getCause() instanceof ResourceNotFoundException)) {
                throw e;
            }
            missingTable.get().create(resource);
            return calls.call(resource, call);
        }
    }
}
