package dev.latchkey.jdbc;

import dev.latchkey.spi.PlatformThreads;
import java.util.function.Supplier;

/** Callers on virtual threads, where there are any: an interrupt closes the socket that such a thread reads. */
final class VirtualThreads {

    private VirtualThreads() {}

    /** Calls on the thread of the caller, or on one that nobody interrupts if that is virtual. */
    static <T> T spare(Supplier<T> call) {
        if (!PlatformThreads.isVirtual()) {
            return call.get();
        }
        try {
            return DedicatedThreadCalls.call(call::get);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("a supplier throws nothing else", e);
        }
    }
}
