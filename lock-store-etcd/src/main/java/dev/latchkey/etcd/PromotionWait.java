package dev.latchkey.etcd;

import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import io.etcd.jetcd.api.TxnRequest;
import java.util.List;

/** A reader that waits until it is the only one. It keeps new readers out, and two of them would wait for each other. */
final class PromotionWait {

    private final Request request;
    private final LockKeys keys;
    private final Services services;

    /** The revision at which it was made known. */
    private long marked;

    PromotionWait(Request request, LockKeys keys, Services services) {
        this.request = request;
        this.keys = keys;
        this.services = services;
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
            boolean unused = services.leave(resource(), keys.promoter(), marked);
        }
    }

    private Response awaitPromotion(WaitEnd end) throws InterruptedException {
        while (true) {
            long revision = revision();
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
            services.awaitDeletion(resource(), keys.readers(), revision + 1, end);
            // It may have been lost, and another's may be there.
            if (!mark()) {
                return new Response.Refused();
            }
        }
    }

    private String resource() {
        return request.key().resource();
    }

    /** Where events begin that come after the attempt. */
    private long revision() {
        return services.transactions()
                .read(resource(), TxnRequest.newBuilder().addSuccess(Ops.any(keys.readers())))
                .getHeader()
                .getRevision();
    }

    /** Returns whether nobody else waits for promotion. */
    private boolean mark() {
        marked = services.mark(resource(), keys.promoter(), Ops.noneIn(keys.promoters()), List.of())
                .created();
        return marked != 0;
    }
}
