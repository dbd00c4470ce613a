package dev.latchkey.testkit;

import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One way in which a {@link FaultyStore} can treat a call. Immutable. */
public final class Fault {

    /** The wrapped store's part of a call. */
    @FunctionalInterface
    interface Call<T, X extends Exception> {
        T run() throws X;
    }

    private static final Fault NONE = new Fault(Fault::nothing, null, Fault::nothing, UnaryOperator.identity());

    private final Consumer<String> before;
    private final @Nullable Response instead;
    private final Consumer<String> after;
    private final UnaryOperator<Response> change;

    private Fault(
            Consumer<String> before,
            @Nullable Response instead,
            Consumer<String> after,
            UnaryOperator<Response> change) {
        this.before = before;
        this.instead = instead;
        this.after = after;
        this.change = change;
    }

    /**
     * Nothing goes wrong: for the calls before one that shall fail.
     *
     * @return no fault
     */
    public static Fault none() {
        return NONE;
    }

    /**
     * The request never reaches the store; the caller gets a {@link LockStorageException}.
     *
     * @return the fault
     */
    public static Fault unreachable() {
        return new Fault(
                failing("not sent: the store cannot be reached"), null, Fault::nothing, UnaryOperator.identity());
    }

    /**
     * The request never reaches the store; the caller gets a {@link LockStorageException} that says how far it came.
     *
     * @param failure how far
     * @return the fault
     */
    public static Fault failing(LockStorageException.Failure failure) {
        Consumer<String> fails = resource -> {
            throw new LockStorageException(resource, failure + " (a planted fault)", null, failure);
        };
        return new Fault(fails, null, Fault::nothing, UnaryOperator.identity());
    }

    /**
     * The store does what is asked, but its answer is lost; the caller gets a {@link LockStorageException}.
     *
     * @return the fault
     */
    public static Fault replyLost() {
        return new Fault(Fault::nothing, null, failing("no answer"), UnaryOperator.identity());
    }

    /**
     * The store does what is asked, and the answer is as if it had taken long to come: the lease of a grant began earlier.
     *
     * @param late how much earlier
     * @return the fault, for save, waitAndSave and refresh; no fault for the others
     */
    public static Fault late(Duration late) {
        return new Fault(
                Fault::nothing,
                null,
                Fault::nothing,
                response -> response instanceof Response.Granted granted
                        ? new Response.Granted(granted.mode(), granted.fencingToken(), earlier(granted.lease(), late))
                        : response);
    }

    /**
     * The store is not asked, and this is the answer.
     *
     * @param response the answer
     * @return the fault, for save, waitAndSave and refresh; no fault for the others
     */
    public static Fault answering(Response response) {
        return new Fault(Fault::nothing, response, Fault::nothing, UnaryOperator.identity());
    }

    /**
     * The store is not asked, and the answer is that what the key claims to hold is lost.
     *
     * @param reason why
     * @return as {@link #answering}
     */
    public static Fault lost(LossReason reason) {
        return answering(new Response.Lost(reason));
    }

    /**
     * The request waits on its way to the store until the pause is ended.
     *
     * @param pause tells when the request waits, and ends the waiting
     * @return the fault
     */
    public static Fault pausedBefore(Pause pause) {
        return new Fault(resource -> pause.pass(), null, Fault::nothing, UnaryOperator.identity());
    }

    /**
     * The store does what is asked, and its answer waits on its way back until the pause is ended.
     *
     * @param pause tells when the answer waits, and ends the waiting
     * @return the fault
     */
    public static Fault pausedAfter(Pause pause) {
        return new Fault(Fault::nothing, null, resource -> pause.pass(), UnaryOperator.identity());
    }

    /**
     * Runs something of the test's own once the store has done what is asked, before the answer is given: for what happens
     * while an answer is on its way.
     *
     * @param meanwhile what happens; an exception of it is thrown to the caller of the store
     * @return the fault
     */
    public static Fault meanwhile(Callable<?> meanwhile) {
        return new Fault(Fault::nothing, null, resource -> run(meanwhile), UnaryOperator.identity());
    }

    /** Runs a call that answers an attempt. */
    <X extends Exception> Response response(String resource, Call<Response, X> store) throws X {
        return instead != null ? instead : change.apply(answer(resource, store));
    }

    /** Runs a call of any other kind, as {@link PersistingStore#delete}. */
    <T, X extends Exception> T answer(String resource, Call<T, X> store) throws X {
        before.accept(resource);
        T answer = store.run();
        after.accept(resource);
        return answer;
    }

    private static Consumer<String> failing(String problem) {
        return resource -> {
            throw new LockStorageException(resource, problem + " (a planted fault)", null);
        };
    }

    private static Lease earlier(Lease lease, Duration by) {
        return lease.since().isEmpty()
                ? lease
                : lease.withTime(OptionalLong.of(lease.since().getAsLong() - by.toNanos()), lease.ttl());
    }

    private static void nothing(String resource) {}

    private static void run(Callable<?> meanwhile) {
        try {
            meanwhile.call();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("what was to happen meanwhile failed", e);
        }
    }
}
