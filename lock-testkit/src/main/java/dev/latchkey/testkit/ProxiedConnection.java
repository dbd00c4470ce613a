package dev.latchkey.testkit;

import dev.latchkey.testkit.FaultPlan.Kind;
import dev.latchkey.testkit.FaultPlan.Trap;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One connection through a {@link FaultProxy}: two threads, one per direction. */
final class ProxiedConnection {

    private static final int BUFFER = 64 * 1024;

    private final Socket client;
    private final Socket server;
    private final FaultPlan plan;
    private final Consumer<ProxiedConnection> onEnd;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicReference<@Nullable Trap> replyTrap = new AtomicReference<>();

    ProxiedConnection(Socket client, Socket server, FaultPlan plan, Consumer<ProxiedConnection> onEnd) {
        this.client = client;
        this.server = server;
        this.plan = plan;
        this.onEnd = onEnd;
    }

    void start() {
        daemon("fault-proxy-requests", () -> pump(client, server, this::passRequest));
        daemon("fault-proxy-replies", () -> pump(server, client, this::passReply));
    }

    /** Ends both sides with RST, as a firewall or a crash does. */
    void reset() {
        if (ended.compareAndSet(false, true)) {
            resetSocket(client);
            resetSocket(server);
            onEnd.accept(this);
        }
    }

    static void resetSocket(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // Closed already by its other end.
        }
        try {
            socket.close();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException("could not close a socket", e);
        }
    }

    static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Decides about what was just read. */
    private interface Passage {
        boolean mayPass(byte[] bytes, int length);
    }

    private void pump(Socket from, Socket to, Passage passage) {
        byte[] buffer = new byte[BUFFER];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                plan.awaitPassage();
                if (passage.mayPass(buffer, length)) {
                    out.write(buffer, 0, length);
                }
            }
        } catch (IOException e) {
            // One side is gone: so is the connection.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            reset();
        }
    }

    private boolean passRequest(byte[] bytes, int length) {
        Optional<Trap> lost = plan.spring(Kind.LOSE_REQUEST, bytes, length);
        if (lost.isPresent()) {
            resetBy(lost.get());
            return false;
        }
        plan.spring(Kind.LOSE_REPLY, bytes, length).ifPresent(replyTrap::set);
        return true;
    }

    private boolean passReply(byte[] bytes, int length) {
        Trap lost = replyTrap.getAndSet(null);
        if (lost != null) {
            resetBy(lost);
            return false;
        }
        Optional<Trap> cut = plan.spring(Kind.CUT_AT_MESSAGE, bytes, length);
        if (cut.isPresent()) {
            resetBy(cut.get());
            return false;
        }
        Optional<Trap> dropped = plan.spring(Kind.DROP_MESSAGE, bytes, length);
        dropped.ifPresent(trap -> trap.sprung().complete(null));
        return dropped.isEmpty();
    }

    private void resetBy(Trap trap) {
        reset();
        trap.sprung().complete(null);
    }
}
