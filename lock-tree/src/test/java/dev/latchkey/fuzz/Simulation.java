package dev.latchkey.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;

/**
 * Loads the classes of Latchkey with some types of the JDK replaced by simulated ones, so that the code as it is shipped runs in
 * virtual time. Only {@link Constants} change: where the code says ReentrantLock, it gets {@link Simulated.Lock}, and so on. What one loader has loaded is a world of its own.
 */
final class Simulation extends ClassLoader {

    private static final String OURS = "dev/latchkey/fuzz/Simulated$";

    private static final Map<String, String> REPLACED = Map.ofEntries(
            Map.entry("java/lang/System", OURS + "Clock"),
            Map.entry("java/lang/Thread", OURS + "Thread"),
            Map.entry("java/util/concurrent/locks/ReentrantLock", OURS + "Lock"),
            Map.entry("java/util/concurrent/CountDownLatch", OURS + "Latch"),
            Map.entry("java/util/concurrent/ThreadFactory", OURS + "Threads"),
            Map.entry("java/util/concurrent/ThreadPoolExecutor", OURS + "Pool"),
            Map.entry("java/util/concurrent/ThreadPoolExecutor$DiscardPolicy", OURS + "Discarding"),
            Map.entry("java/util/concurrent/RejectedExecutionHandler", OURS + "Discarding"),
            Map.entry("java/util/concurrent/ScheduledThreadPoolExecutor", OURS + "Scheduler"),
            Map.entry("java/util/concurrent/ConcurrentHashMap", OURS + "OrderedMap"),
            Map.entry("java/util/concurrent/ConcurrentHashMap$KeySetView", OURS + "OrderedSet"),
            Map.entry("java/util/concurrent/ThreadLocalRandom", OURS + "Dice"),
            Map.entry("java/security/SecureRandom", OURS + "Dice"),
            Map.entry("java/lang/Runtime", OURS + "NoRuntime"),
            Map.entry("java/lang/ref/Cleaner", OURS + "NoCleaner"),
            Map.entry("java/lang/StackWalker", OURS + "NoStack"),
            Map.entry("org/slf4j/Logger", OURS + "NoLog"),
            Map.entry("org/slf4j/LoggerFactory", OURS + "NoLogs"));

    static {
        registerAsParallelCapable();
    }

    private final ClassLoader source;

    Simulation(ClassLoader source) {
        super(source);
        this.source = source;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith("dev.latchkey.")) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = source.getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            boolean isOurs = name.startsWith("dev.latchkey.fuzz.");
            byte[] code = isOurs ? in.readAllBytes() : simulated(in.readAllBytes());
            return defineClass(name, code, 0, code.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] simulated(byte[] code) {
        Constants constants = new Constants(code);
        constants.redirect("java/util/Set", "copyOf", OURS + "Sets");
        constants.redirectReferences(
                "java/util/concurrent/CompletableFuture", "join", "java/lang/Object", OURS + "Futures");
        return constants.replaced(Simulation::replaced);
    }

    /** A name by itself, or within a descriptor. */
    private static String replaced(String text) {
        String name = REPLACED.get(text);
        if (name != null) {
            return name;
        }
        String changed = text;
        if (text.indexOf(';') > 0) {
            for (Map.Entry<String, String> each : REPLACED.entrySet()) {
                changed = changed.replace("L" + each.getKey() + ";", "L" + each.getValue() + ";");
            }
        }
        return changed;
    }
}
