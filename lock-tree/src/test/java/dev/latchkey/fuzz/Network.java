package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What lies between a factory and its store: requests are lost, come late or twice, and of some the answer is lost. */
final class Network {

    enum Fate {
        ANSWERED,
        ANSWER_LOST,
        NEVER_ARRIVES,
        ARRIVES_LATE,
        ARRIVES_NOW_AND_LATE,
        NOT_SENT,
        ANSWERED_AND_LATE;

        boolean isAnswered() {
            return this == ANSWERED || this == ANSWERED_AND_LATE;
        }

        boolean arrivesNow() {
            return isAnswered() || this == ANSWER_LOST || this == ARRIVES_NOW_AND_LATE;
        }

        boolean arrivesLate() {
            return this == ARRIVES_LATE || this == ARRIVES_NOW_AND_LATE || this == ANSWERED_AND_LATE;
        }
    }

    /**
     * What is on its way.
     *
     * @param about what it is about, for who reads it
     */
    record Message(String operation, String resource, String about) {}

    private static final Fate[] FATES = Fate.values();

    private final World world;
    private final int faultIn;

    /** Of the messages, one in so many meets a fault; none if zero. */
    Network(World world, int faultIn) {
        this.world = world;
        this.faultIn = faultIn;
    }

    /** Draws what becomes of a message. */
    Fate fate(boolean mayRepeat) {
        if (faultIn == 0 || !world.oneIn(faultIn)) {
            return Fate.ANSWERED;
        }
        Fate fate = FATES[world.draw(FATES.length)];
        return fate == Fate.ANSWERED_AND_LATE && !mayRepeat ? Fate.ANSWERED : fate;
    }

    /** Brings it there, and the answer back, while others go on. */
    <T> T carry(Message message, Fate fate, Supplier<T> effect) {
        @Nullable T answer = null;
        if (fate.arrivesNow()) {
            answer = applied(message, "", effect);
        }
        if (fate.arrivesLate()) {
            world.late(() -> applied(message, " (late)", effect));
        }
        world.mayPause();
        if (answer == null || !fate.isAnswered()) {
            throw failure(message.resource(), fate);
        }
        return answer;
    }

    /** As {@link #carry}, for somebody who does not wait: what is not answered fails at any later time. */
    <T> CompletableFuture<T> send(Message message, Fate fate, Supplier<T> effect) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        if (fate == Fate.NOT_SENT && world.oneIn(2)) {
            answer.completeExceptionally(failure(message.resource(), fate));
        } else {
            world.late(() -> arrive(message, fate, effect, answer));
        }
        return answer;
    }

    private <T> void arrive(Message message, Fate fate, Supplier<T> effect, CompletableFuture<T> answer) {
        @Nullable T got = fate.arrivesNow() ? applied(message, " (not waited for)", effect) : null;
        if (fate.arrivesLate()) {
            world.late(() -> applied(message, " (late)", effect));
        }
        world.late(() -> {
            if (got == null || !fate.isAnswered()) {
                answer.completeExceptionally(failure(message.resource(), fate));
            } else {
                world.note("   " + message.operation() + " " + message.about() + " is answered");
                answer.complete(got);
            }
        });
    }

    private <T> T applied(Message message, String when, Supplier<T> effect) {
        T answer = effect.get();
        if (world.isTraced()) {
            world.note("   " + message.operation() + when + " " + message.about() + " -> " + answer);
        }
        return answer;
    }

    LockStorageException failure(String resource, Fate fate) {
        world.note("   " + fate);
        return new LockStorageException(
                resource,
                fate.name(),
                null,
                fate == Fate.NOT_SENT ? LockStorageException.Failure.NOT_SENT : LockStorageException.Failure.IN_DOUBT);
    }

    static String shown(Key key) {
        return key.resource() + "/" + key.token().substring(0, 4)
                + key.held()
                        .map(held -> " as " + held.mode() + " " + held.fencingToken())
                        .orElse("");
    }
}
