package dev.latchkey.cli;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/**
 * Converts the signals that would end this process to events. Java's only way is {@code sun.misc.Signal} of the module
 * {@code jdk.unsupported}, which is called by reflection because javac warns of it and no annotation suppresses that. A signal that
 * was ignored at the start, for example under nohup, stays ignored.
 *
 * <p>The JVM uses USR2 for its flight recorder, which a lock does not need.
 *
 * <p>The JVM reserves QUIT for its thread dump, even with {@code -Xrs}. The launcher therefore makes the JVM log its
 * operations to a pipe, where QUIT appears as the operation that makes the dump. It logs other operations as well, such as
 * collections of garbage, so every verb has to read the pipe: the JVM stands still when it is full.
 */
final class Signals {

    /** The name of the pipe. It is not set without the launcher; QUIT then has its usual effect. */
    private static final String QUIT_LOG = "latchkey.quit-log";

    private static final String THREAD_DUMP = "begin VM_Operation";
    private static final String THREAD_DUMP_NAME = ": PrintThreads,";

    /** Of the verb; of one that handles no signals there is none. A QUIT that comes before it is delivered then. */
    private static final CompletableFuture<Inbox> INBOX = new CompletableFuture<>();

    private Signals() {}

    /** Reads the pipe of the launcher from now on. */
    static void followQuitLog() {
        String quitLog = System.getProperty(QUIT_LOG);
        if (quitLog != null) {
            Threads.startDaemon("lock-quit", () -> followQuitLog(quitLog));
        }
    }

    static void deliverTo(Inbox inbox) {
        for (UnixSignal signal : UnixSignal.values()) {
            if (signal != UnixSignal.QUIT) {
                handle(signal, inbox);
            }
        }
        INBOX.complete(inbox);
    }

    private static void handle(UnixSignal signal, Inbox inbox) {
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
            // Unknown on this system (Windows has no HUP), or reserved by the JVM: its effect stays the same.
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "this JVM has no sun.misc.Signal: use one with the module jdk.unsupported", e);
        }
    }

    private static void followQuitLog(String quitLog) {
        try (BufferedReader log =
                new BufferedReader(new InputStreamReader(new FileInputStream(quitLog), StandardCharsets.US_ASCII))) {
            for (String line = log.readLine(); line != null; line = log.readLine()) {
                // "[begin VM_Operation (0x…): PrintThreads, mode: safepoint, …": "begin" and "end" are logged for each.
                if (line.contains(THREAD_DUMP) && line.contains(THREAD_DUMP_NAME)) {
                    var unused = INBOX.thenAccept(inbox -> send(UnixSignal.QUIT, inbox));
                }
            }
        } catch (IOException e) {
            // Without the pipe there is no QUIT, which is not a reason to fail.
        }
    }

    private static void send(UnixSignal signal, Inbox inbox) {
        inbox.add(new Event.Signalled(signal, System.nanoTime()));
    }
}
