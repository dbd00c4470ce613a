package dev.latchkey.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Loads the classes of Latchkey with some types of the JDK replaced by simulated ones, so that the code as it is shipped runs in
 * virtual time. Only names in the constant pool change: where the code says ReentrantLock, it gets {@link Simulated.Lock}, and so
 * on. What one loader has loaded is a world of its own.
 */
final class Simulation extends ClassLoader {

    private static final String OURS = "dev/latchkey/fuzz/Simulated$";

    private static final Map<String, String> REPLACED = Map.ofEntries(
            Map.entry("java/lang/System", OURS + "Clock"),
            Map.entry("java/lang/Thread", OURS + "Thread"),
            Map.entry("java/util/concurrent/locks/ReentrantLock", OURS + "Lock"),
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

    private static final int UTF8 = 1;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;

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
            byte[] code = isOurs ? in.readAllBytes() : replaced(in.readAllBytes());
            return defineClass(name, code, 0, code.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Copies a class file, constant by constant. */
    private static byte[] replaced(byte[] code) {
        var out = new java.io.ByteArrayOutputStream(code.length + 512);
        out.write(code, 0, 10);
        int constants = unsigned(code, 8);
        int at = 10;
        for (int i = 1; i < constants; i++) {
            int tag = code[at];
            int length = length(code, at);
            if (tag == UTF8) {
                byte[] text = replaced(new String(code, at + 3, length - 3, StandardCharsets.UTF_8))
                        .getBytes(StandardCharsets.UTF_8);
                out.write(UTF8);
                out.write(text.length >> 8);
                out.write(text.length);
                out.writeBytes(text);
            } else {
                out.write(code, at, length);
            }
            at += length;
            // These count twice.
            i += tag == LONG || tag == DOUBLE ? 1 : 0;
        }
        out.write(code, at, code.length - at);
        return out.toByteArray();
    }

    /** How long the constant is, with its tag. */
    private static int length(byte[] code, int at) {
        return switch (code[at]) {
            case UTF8 -> 3 + unsigned(code, at + 1);
            case LONG, DOUBLE -> 9;
            case 7, 8, 16, 19, 20 -> 3;
            case 15 -> 4;
            default -> 5;
        };
    }

    private static int unsigned(byte[] code, int at) {
        return (code[at] & 0xff) << 8 | (code[at + 1] & 0xff);
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
