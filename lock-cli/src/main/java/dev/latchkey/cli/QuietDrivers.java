package dev.latchkey.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.logging.LogManager;

/**
 * Has java.util.logging say nothing, if some driver uses it: PostgreSQL's repeats addresses it cannot read, with the password
 * in them, and what fails is told by exceptions. Public for the {@link LogManager} alone, which makes one when it is first
 * used; until then it costs nothing.
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

    /** Whoever starts this JVM may choose another one. */
    static void install() {
        if (System.getProperty(PROPERTY) == null && System.getProperty("java.util.logging.config.file") == null) {
            System.setProperty(PROPERTY, QuietDrivers.class.getName());
        }
    }
}
