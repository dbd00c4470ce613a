package dev.latchkey;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.DynamicTest;

/**
 * Runs two operations in two threads, one interleaving after the other, by the model checker of Lincheck. An interleaving fails the
 * test if it hangs, or if an operation or the check at its end throws. Lincheck then prints it.
 *
 * <p>All arguments must be lambda expressions: Lincheck does not see what a method reference creates, and would then try a single
 * interleaving.
 *
 * @param most how many interleavings of two operations are tried
 * @param fresh makes what the two threads of one interleaving share
 * @param check looks at it when both threads have ended
 * @param <S> what they share
 */
record Interleavings<S>(int most, Supplier<S> fresh, Consumer<S> check) {

    /** Runs each pair of operations, also of one operation with itself. */
    Stream<DynamicTest> ofPairs(Map<String, Consumer<S>> operations) {
        List<Map.Entry<String, Consumer<S>>> all = List.copyOf(new TreeMap<>(operations).entrySet());
        return IntStream.range(0, all.size())
                .boxed()
                .flatMap(first -> all.stream().skip(first).map(second -> test(all.get(first), second)));
    }

    private DynamicTest test(Map.Entry<String, Consumer<S>> first, Map.Entry<String, Consumer<S>> second) {
        return DynamicTest.dynamicTest(
                first.getKey() + " beside " + second.getKey(), () -> run(first.getValue(), second.getValue()));
    }

    /** Runs one operation beside each of several others. */
    Stream<DynamicTest> beside(Consumer<S> operation, Map<String, Consumer<S>> others) {
        return others.entrySet().stream()
                .map(other -> DynamicTest.dynamicTest(other.getKey(), () -> run(operation, other.getValue())));
    }

    void run(Consumer<S> one, Consumer<S> other) {
        Lincheck.runConcurrentTest(most, () -> {
            S shared = fresh.get();
            Thread first = new Thread(() -> one.accept(shared));
            Thread second = new Thread(() -> other.accept(shared));
            first.start();
            second.start();
            join(first);
            join(second);
            check.accept(shared);
        });
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
