package dev.latchkey.cli;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;

/**
 * Turns the signals that would end this process into events. They are handled with {@code sun.misc.Signal} of the module
 * {@code jdk.unsupported}, which is Java's only way; by reflection, for javac warns of it and no annotation helps. A signal
 * that was ignored when we started, as under nohup, stays ignored.
 *
 * <p>USR2 is the JVM's own for its flight recorder, which a lock does not need.
 *
 * <p>The JVM keeps QUIT for its thread dump, with {@code -Xrs} too. So the launcher has the JVM log its operations into a
 * pipe, and QUIT shows there as the operation that makes the dump.
 */
final class Signals {

    /** Names the pipe; unset without the launcher, and then QUIT does what it does to every JVM. */
    private static final String QUIT_LOG = "latchkey.quit-log";

    private static final String THREAD_DUMP = "begin VM_Operation";
    private static final String THREAD_DUMP_NAME = ": PrintThreads,";

    private Signals() {}

    static void deliverTo(EventQueue inbox) {
        for (UnixSignal signal : UnixSignal.values()) {
            if (signal != UnixSignal.QUIT) {
                handle(signal, inbox);
            }
        }
        String quitLog = System.getProperty(QUIT_LOG);
        if (quitLog != null) {
            Threads.startDaemon("lock-quit", () -> followQuitLog(quitLog, inbox));
        }
    }

    private static void handle(UnixSignal signal, EventQueue inbox) {
        try {
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Class<?> signalType = Class.forName("sun.misc.Signal");
            Object handler = Proxy.newProxyInstance(
                    Signals.class.getClassLoader(), new Class<?>[] {handlerType}, (proxy, method, arguments) -> {
                        if (method.getName().equals("handle")) {
                            send(signal, inbox);
                        }
                        return null;
                    });
            signalType
                    .getMethod("handle", signalType, handlerType)
                    .invoke(null, signalType.getConstructor(String.class).newInstance(signal.name()), handler);
        } catch (InvocationTargetException e) {
            // Not known to this system (Windows has no HUP), or kept for the JVM: it does there what it did.
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "this JVM has no sun.misc.Signal: use one with the module jdk.unsupported", e);
        }
    }

    private static void followQuitLog(String quitLog, EventQueue inbox) {
        try (BufferedReader log =
                new BufferedReader(new InputStreamReader(new FileInputStream(quitLog), StandardCharsets.US_ASCII))) {
            for (String line = log.readLine(); line != null; line = log.readLine()) {
                // "[begin VM_Operation (0x…): PrintThreads, mode: safepoint, …": "begin" and "end" are logged for each.
                if (line.contains(THREAD_DUMP) && line.contains(THREAD_DUMP_NAME)) {
                    send(UnixSignal.QUIT, inbox);
                }
            }
        } catch (IOException e) {
            // No pipe, no QUIT: not a reason to fail.
        }
    }

    private static void send(UnixSignal signal, EventQueue inbox) {
        inbox.add(new Event.Signalled(signal, System.nanoTime()));
    }
}
