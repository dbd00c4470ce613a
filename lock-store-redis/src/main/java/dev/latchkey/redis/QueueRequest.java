package dev.latchkey.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A request of a wait, on its way.
 *
 * @param sinceNanos a time before it was sent
 * @param generation of the connection then
 * @param push how the queue knows the wait once it is answered
 * @param answer the reply
 */
record QueueRequest(
        long sinceNanos, int generation, NotificationChannel.GrantMessage push, CompletableFuture<List<Long>> answer) {}
