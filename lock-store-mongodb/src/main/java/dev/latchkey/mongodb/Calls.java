package dev.latchkey.mongodb;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoSocketOpenException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.MongoTimeoutException;
import dev.latchkey.LockStorageException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls the driver, and says in words of ours what failed. Keeps interrupts away from it: an interrupted thread gets no
 * connection from the pool, and may be told so even when the server has answered already.
 */
final class Calls implements AutoCloseable {

    private static final int VALIDATION_FAILED = 121;

    private final PlatformThreads threads = new PlatformThreads();

    /** Calls what changes nothing if it is done twice: again when interrupted, and once more when its connection broke. */
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
                        return call.get();
                    }
                }));
    }

    /** Calls what would tell another thing the second time: on a thread that nobody interrupts. */
    <T> T once(String resource, Supplier<T> call) {
        return described(resource, () -> threads.call(call));
    }

    private <T extends @Nullable Object> T uninterrupted(Supplier<T> call) {
        if (PlatformThreads.isVirtual()) {
            return threads.call(call);
        }
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return call.get();
                } catch (MongoInterruptedException e) {
                    // The driver has set the flag again.
                    interrupted |= Thread.interrupted();
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
            // The answer repeats what was refused, token and all.
            return new LockStorageException(resource, "a validator of the collection refuses its document", null);
        }
        if (e instanceof MongoCommandException refusal) {
            return new LockStorageException(
                    resource,
                    "MongoDB refused (" + refusal.getErrorCode() + " " + refusal.getErrorCodeName() + "): "
                            + refusal.getErrorMessage() + remedy(refusal),
                    e);
        }
        if (e instanceof MongoTimeoutException) {
            return new LockStorageException(
                    resource,
                    "no MongoDB server to ask: " + e.getMessage() + ". Is it running, and has it a primary?",
                    e);
        }
        return new LockStorageException(resource, "MongoDB failed: " + e.getMessage(), e);
    }

    private static String remedy(MongoException e) {
        return Documents.isDuplicate(e)
                ? ". Has the collection another unique index, or a collation that takes two names for one?"
                : "";
    }

    @Override
    public void close() {
        threads.close();
    }
}
