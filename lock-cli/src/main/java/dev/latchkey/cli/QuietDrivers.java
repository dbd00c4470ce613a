package dev.latchkey.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.logging.LogManager;

/**
 * Silences java.util.logging, which some drivers use: that of PostgreSQL logs invalid addresses with their passwords, and
 * failures are reported by exceptions anyway. Public only for the {@link LogManager}, which creates it at its first use;
 * until then it costs nothing.
 */
public final class QuietDrivers {

    private static final String PROPERTY = "java.util.logging.config.class";

    /**
     * For the {@link LogManager}.
     *
     * @throws IOException never, for it reads from memory
     */
    public QuietDrivers() throws IOException {
        LogManager.getLogManager().readConfiguration(new ByteArrayInputStream(new byte[0]));
    }

    /** Whoever starts the JVM may choose another configuration. */
    static void install() {
        if (System.getProperty(PROPERTY) == null && System.getProperty("java.util.logging.config.file") == null) {
            System.setProperty(PROPERTY, QuietDrivers.class.getName());
        }
    }
}
