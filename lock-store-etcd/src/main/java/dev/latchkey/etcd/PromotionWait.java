package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import io.etcd.jetcd.api.TxnRequest;
import java.util.List;

/** A reader that waits until it is the only one. It keeps new readers out, and two of them would wait for each other. */
final class PromotionWait {

    private final Request request;
    private final LockKeys keys;
    private final Services services;

    /** Makes it known. */
    private final WaiterKey mark;

    PromotionWait(Request request, LockKeys keys, Services services) {
        this.request = request;
        this.keys = keys;
        this.services = services;
        this.mark = new WaiterKey(services, request, keys.promoter());
    }

    Response await(WaitEnd end) throws InterruptedException {
        if (!mark()) {
            Response response = services.holds().save(request);
            return response instanceof Response.Conflicted ? new Response.Refused() : response;
        }
        try {
            return awaitPromotion(end);
        } finally {
            // The promotion has deleted it. But the key may hold the resource exclusively already.
            boolean unused = mark.leave();
        }
    }

    private Response awaitPromotion(WaitEnd end) throws InterruptedException {
        while (true) {
            Response response = services.holds().save(request);
            if (!(response instanceof Response.Conflicted)) {
                return response;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            services.checkOpen(resource());
            if (end.isOver()) {
                return response;
            }
            services.awaitDeletion(resource(), keys.all(), keys.readers(), end, this::hasOthers);
            // It may have been lost, and another's may be there.
            if (!mark()) {
                return new Response.Refused();
            }
        }
    }

    private String resource() {
        return request.key().resource();
    }

    /** Whether somebody else reads still. New readers are kept out meanwhile. */
    private boolean hasOthers() {
        ByteString own = keys.hold(LockMode.SHARED);
        return services
                .transactions()
                .read(
                        resource(),
                        TxnRequest.newBuilder()
                                .addSuccess(Ops.get(
                                        Ops.in(keys.readers()).setLimit(2).setKeysOnly(true))))
                .getResponses(0)
                .getResponseRange()
                .getKvsList()
                .stream()
                .anyMatch(reader -> !reader.getKey().equals(own));
    }

    /** Returns whether nobody else waits for promotion. */
    private boolean mark() {
        var unused = mark.put(Ops.noneIn(keys.promoters()), List.of());
        return mark.created() != 0;
    }
}
