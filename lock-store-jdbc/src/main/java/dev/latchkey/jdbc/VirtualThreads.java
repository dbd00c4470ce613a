package dev.latchkey.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Callers on virtual threads, where there are any: an interrupt closes the socket that such a thread reads. */
final class VirtualThreads {

    private static final @Nullable Method IS_VIRTUAL = findIsVirtual();

    private VirtualThreads() {}

    /** Calls on the thread of the caller, or on one that nobody interrupts if that is virtual. */
    static <T> T spare(Supplier<T> call) {
        if (!isVirtual()) {
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

    static boolean isVirtual() {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invoke(Thread.currentThread());
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("Thread.isVirtual() is public and throws nothing", e);
        }
    }

    private static @Nullable Method findIsVirtual() {
        try {
            return Thread.class.getMethod("isVirtual");
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
