package dev.latchkey.cli;

import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * Makes SLF4J log to stderr in the format of the command. slf4j-simple is not used because it prints every stack trace, and reads
 * its configuration at each start. Public only for {@link java.util.ServiceLoader}.
 */
public final class StderrLogging implements SLF4JServiceProvider {

    private static final String PROPERTY = "slf4j.provider";

    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter mdc = new NOPMDCAdapter();

    /** For {@link java.util.ServiceLoader}. */
    public StderrLogging() {}

    /** Named, so that SLF4J does not search all jars for one. Whoever starts the JVM may choose another. */
    static void install() {
        if (System.getProperty(PROPERTY) == null) {
            System.setProperty(PROPERTY, StderrLogging.class.getName());
            // It would print that it does as it is told.
            System.setProperty("slf4j.internal.verbosity", "WARN");
        }
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return StderrLogger::new;
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return mdc;
    }

    @Override
    public String getRequestedApiVersion() {
        return "2.0.99";
    }

    @Override
    public void initialize() {}
}
