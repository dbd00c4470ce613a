package dev.latchkey.servers;

import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.ServerAddress;
import java.util.function.Supplier;

/** The life of a server that belongs to a test. Thread-safe as {@link LocalServer} is. */
abstract class TestServer implements OwnServer {

    /** What runs. */
    final LocalServer server;

    TestServer(LocalServer server) {
        this.server = server;
    }

    /** Returns the DSN that an environment variable gives for all tests of this JVM, or that of a server started now. */
    static String shared(String environment, Supplier<String> start) {
        String given = System.getenv(environment);
        return given != null && !given.isBlank() ? given : start.get();
    }

    @Override
    public final ServerAddress address() {
        return server.address();
    }

    @Override
    public final void kill() {
        server.kill();
    }

    @Override
    public final void restart() {
        server.restart();
    }

    @Override
    public final void restartEmpty() {
        server.restartEmpty();
    }

    @Override
    public final void freeze() {
        server.freeze();
    }

    @Override
    public final void thaw() {
        server.thaw();
    }

    @Override
    public final void close() {
        server.close();
    }
}
