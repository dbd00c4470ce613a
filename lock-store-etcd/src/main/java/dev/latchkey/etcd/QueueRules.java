package dev.latchkey.etcd;

import dev.latchkey.LockMode;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnResponse;
import java.util.List;
import java.util.Optional;

/** Who goes before an owner in the line of a resource: readers let each other pass. No I/O. */
final class QueueRules {

    /**
     * Whose end to wait for.
     *
     * @param holds whether that is a holder; otherwise one in the line, who becomes a holder or leaves
     */
    record Obstacle(KeyRange keys, boolean holds) {}

    private final LockKeys keys;
    private final LockMode mode;

    /** A reader lets writers behind it wait; of no writers etcd cannot say that all of them are behind. */
    private boolean hasWritersBehind;

    QueueRules(LockKeys keys, LockMode mode) {
        this.keys = keys;
        this.mode = mode;
    }

    private boolean writes() {
        return mode == LockMode.EXCLUSIVE;
    }

    /** When it is the turn of the place that was created at a revision. */
    List<Compare> isTurnOf(long created) {
        Compare noWriter = Ops.noneIn(keys.writers());
        if (writes()) {
            return List.of(noWriter, Ops.noneIn(keys.readers()), Ops.noneBefore(keys.queue(), created));
        }
        return List.of(
                noWriter,
                Ops.noneIn(keys.promoters()),
                hasWritersBehind ? Ops.noneBefore(keys.waitingWriters(), created) : Ops.noneIn(keys.waitingWriters()));
    }

    /** It was not its turn, though nobody was before: the other comparison of the waiting writers is the right one. */
    void nobodyWasBefore() {
        hasWritersBehind = !hasWritersBehind;
    }

    /** The reads of who is before a place. */
    List<RequestOp> obstacles(long before) {
        return List.of(
                Ops.lastBefore(writes() ? keys.queue() : keys.waitingWriters(), before),
                Ops.any(keys.writers()),
                Ops.any(writes() ? keys.readers() : keys.promoters()));
    }

    /** The one before in the line, or whatever of holders there is; nothing if all have gone meanwhile. */
    Optional<Obstacle> obstacle(TxnResponse answer, int firstRead) {
        Optional<KeyValue> predecessor = Transactions.first(answer, firstRead);
        if (predecessor.isPresent()) {
            return predecessor.map(found -> new Obstacle(KeyRange.only(found.getKey()), false));
        }
        if (Transactions.first(answer, firstRead + 1).isPresent()) {
            return Optional.of(new Obstacle(keys.writers(), true));
        }
        return Transactions.first(answer, firstRead + 2)
                .map(found -> new Obstacle(writes() ? keys.readers() : keys.promoters(), true));
    }
}
