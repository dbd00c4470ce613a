package dev.latchkey.etcd;

import dev.latchkey.spi.QueuedWaiter;
import io.etcd.jetcd.api.KeyValue;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The waiters among the keys of a resource, for people. */
final class Waiters {

    private Waiters() {}

    /** The next one to be granted first: a reader that waits for its promotion goes before the line. */
    static List<QueuedWaiter> among(List<KeyValue> keys, String root) {
        return keys.stream()
                .filter(key -> LockKeys.waitingModeOf(root, key.getKey()).isPresent())
                .sorted(Comparator.comparing((KeyValue key) -> !LockKeys.isPromoter(root, key.getKey()))
                        .thenComparing(KeyValue::getCreateRevision))
                .map(key -> new QueuedWaiter(
                        LockKeys.waitingModeOf(root, key.getKey()).orElseThrow(),
                        Optional.empty(),
                        OwnerText.parse(key.getValue())))
                .toList();
    }
}
