package dev.latchkey.testkit;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** What a {@link FaultProxy} is to do with what comes by. Thread-safe. */
final class FaultPlan {

    enum Kind {
        LOSE_REQUEST,
        LOSE_REPLY,
        DROP_MESSAGE,
        CUT_AT_MESSAGE
    }

    /** Happens once, at the first message with a certain text in it. */
    record Trap(Kind kind, String part, CompletableFuture<Void> sprung) {}

    private final List<Trap> traps = new CopyOnWriteArrayList<>();
    private volatile Duration delay = Duration.ZERO;
    private boolean silent;
    private volatile boolean refusing;

    CompletableFuture<Void> next(Kind kind, String part) {
        Trap trap = new Trap(kind, part, new CompletableFuture<>());
        traps.add(trap);
        return trap.sprung();
    }

    /** Takes the trap that these bytes step into, if there is one; the caller completes it. */
    Optional<Trap> spring(Kind kind, byte[] bytes, int length) {
        if (traps.isEmpty()) {
            return Optional.empty();
        }
        String text = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
        return traps.stream()
                .filter(trap -> trap.kind() == kind && text.contains(asRead(trap.part())))
                .findFirst()
                .filter(traps::remove);
    }

    private static String asRead(String part) {
        return new String(part.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    void delay(Duration newDelay) {
        delay = newDelay;
    }

    synchronized void silence() {
        silent = true;
    }

    void refuse() {
        refusing = true;
    }

    boolean refuses() {
        return refusing;
    }

    synchronized void heal() {
        silent = false;
        refusing = false;
        notifyAll();
    }

    /** Returns when a message may be passed on. */
    void awaitPassage() throws InterruptedException {
        Duration now = delay;
        if (!now.isZero()) {
            Thread.sleep(now.toMillis());
        }
        synchronized (this) {
            while (silent) {
                wait();
            }
        }
    }
}
