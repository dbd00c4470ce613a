package dev.latchkey.mongodb;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoSocketOpenException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.MongoTimeoutException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.spi.PlatformThreads;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls the driver, and translates its failures. Protects it from interrupts: an interrupted thread gets no connection from the
 * pool, and its call may fail even after the server has answered.
 */
final class DriverCalls implements AutoCloseable {

    private static final int VALIDATION_FAILED = 121;

    /** Unauthorized, AuthenticationFailed, and what Atlas returns instead of the latter. */
    private static final Set<Integer> DENIALS = Set.of(13, 18, 8_000);

    private final PlatformThreads threads = new PlatformThreads("latchkey-mongodb");

    /** Makes a call that may be repeated: after an interrupt, and once after its connection broke. */
    <T extends @Nullable Object> T repeated(String resource, Supplier<T> call) {
        return described(
                resource,
                () -> uninterrupted(() -> {
                    try {
                        return call.get();
                    } catch (MongoSocketException e) {
                        if (e instanceof MongoSocketReadTimeoutException || e instanceof MongoSocketOpenException) {
                            throw e;
                        }
                        return again(call, e);
                    }
                }));
    }

    /** A repetition that was not sent, or was refused for its credentials, does not mean that the first attempt had no effect. */
    private static <T extends @Nullable Object> T again(Supplier<T> call, MongoException first) {
        try {
            return call.get();
        } catch (MongoException e) {
            if (failureOf(e) != Failure.IN_DOUBT) {
                first.addSuppressed(e);
                throw first;
            }
            throw e;
        }
    }

    /**
     * Makes a call that must not be repeated, because its answer would differ or a late copy could undo a later call. It runs
     * on a thread that nobody interrupts.
     */
    <T extends @Nullable Object> T once(String resource, Supplier<T> call) {
        return described(resource, () -> apart(call));
    }

    /** Makes a call on a thread that nobody interrupts, and throws what the call throws. */
    <T extends @Nullable Object> T apart(Supplier<T> call) {
        try {
            return CompletableFuture.supplyAsync(call, threads).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("the store is closed", e);
        }
    }

    private <T extends @Nullable Object> T uninterrupted(Supplier<T> call) {
        if (PlatformThreads.isVirtual()) {
            return apart(call);
        }
        boolean interrupted = Thread.interrupted();
        Optional<MongoException> first = Optional.empty();
        try {
            while (true) {
                try {
                    return first.isPresent() ? again(call, first.get()) : call.get();
                } catch (MongoInterruptedException e) {
                    // The driver has set the flag again.
                    interrupted |= Thread.interrupted();
                    first = Optional.of(new MongoException("interrupted", e));
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static <T extends @Nullable Object> T described(String resource, Supplier<T> call) {
        try {
            return call.get();
        } catch (MongoException e) {
            throw failure(resource, e);
        } catch (IllegalStateException e) {
            throw new LockStorageException(resource, "the MongoDB client or the store is closed", e);
        }
    }

    static LockStorageException failure(String resource, MongoException e) {
        if (e.getCode() == VALIDATION_FAILED) {
            // The answer repeats the refused document, including its token.
            return new LockStorageException(resource, "a validator of the collection refuses its document", null);
        }
        return new LockStorageException(resource, problem(e), e, failureOf(e));
    }

    private static String problem(MongoException e) {
        if (e instanceof MongoCommandException refusal) {
            return "MongoDB refused (" + refusal.getErrorCode() + " " + refusal.getErrorCodeName() + "): "
                    + refusal.getErrorMessage() + remedy(refusal);
        }
        if (e instanceof MongoSecurityException && e.getCause() instanceof MongoCommandException refusal) {
            return "MongoDB refused the credentials (" + refusal.getErrorCode() + " " + refusal.getErrorCodeName()
                    + "): " + refusal.getErrorMessage();
        }
        if (e instanceof MongoTimeoutException) {
            return "no MongoDB server to ask: " + e.getMessage() + ". Is it running, and has it a primary?";
        }
        return "MongoDB failed: " + e.getMessage();
    }

    /** How far a single call got. If the driver repeats it and cannot send the repetition, it reports its first attempt. */
    static Failure failureOf(MongoException e) {
        if (e instanceof MongoSecurityException || DENIALS.contains(e.getCode())) {
            return Failure.DENIED;
        }
        boolean isNotSent = e instanceof MongoSocketOpenException
                || e instanceof MongoConnectionPoolClearedException
                || (e instanceof MongoTimeoutException && !(e instanceof MongoOperationTimeoutException));
        return isNotSent ? Failure.NOT_SENT : Failure.IN_DOUBT;
    }

    private static String remedy(MongoException e) {
        return LockCommands.isDuplicate(e)
                ? ". Has the collection another unique index, or a collation that takes two names for one?"
                : "";
    }

    @Override
    public void close() {
        threads.close();
    }
}
