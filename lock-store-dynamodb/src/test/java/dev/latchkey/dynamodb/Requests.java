package dev.latchkey.dynamodb;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.model.ConsumedCapacity;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.ReturnConsumedCapacity;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemResponse;

/** What a client sends, and what it costs. */
final class Requests implements ExecutionInterceptor {

    private final List<String> sent = new CopyOnWriteArrayList<>();
    private final List<Double> units = new CopyOnWriteArrayList<>();

    @Override
    public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes attributes) {
        if (context.request() instanceof UpdateItemRequest update) {
            return update.toBuilder()
                    .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL)
                    .build();
        }
        if (context.request() instanceof GetItemRequest get) {
            return get.toBuilder()
                    .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL)
                    .build();
        }
        if (context.request() instanceof ScanRequest scan) {
            return scan.toBuilder()
                    .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL)
                    .build();
        }
        return context.request();
    }

    /** Each try of each request. */
    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        sent.add(context.request().getClass().getSimpleName().replace("Request", ""));
    }

    @Override
    public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
        if (context.response() instanceof UpdateItemResponse update) {
            count(update, UpdateItemResponse::consumedCapacity);
        } else if (context.response() instanceof GetItemResponse get) {
            count(get, GetItemResponse::consumedCapacity);
        } else if (context.response() instanceof ScanResponse scan) {
            count(scan, ScanResponse::consumedCapacity);
        }
    }

    private <T> void count(T response, Function<T, ConsumedCapacity> capacity) {
        units.add(capacity.apply(response).capacityUnits());
    }

    List<String> sent() {
        return sent;
    }

    List<Double> units() {
        return units;
    }

    void forget() {
        sent.clear();
        units.clear();
    }
}
