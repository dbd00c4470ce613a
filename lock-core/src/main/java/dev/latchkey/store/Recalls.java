package dev.latchkey.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The recalls of a stripe that are due; guarded by it, but for the sending, which runs code of the holders. */
final class Recalls {

    private List<CompletableFuture<Void>> due = List.of();

    void add(CompletableFuture<Void> recalled) {
        if (due.isEmpty()) {
            due = new ArrayList<>();
        }
        due.add(recalled);
    }

    boolean isEmpty() {
        return due.isEmpty();
    }

    /** What is due, which the caller sends when it has left the guard. */
    List<CompletableFuture<Void>> take() {
        List<CompletableFuture<Void>> taken = due;
        due = List.of();
        return taken;
    }

    static void send(List<CompletableFuture<Void>> taken) {
        taken.forEach(recalled -> recalled.complete(null));
    }
}
