package dev.latchkey.cli;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/**
 * Prints warnings and errors on stderr, one line each, like the messages of the command. Messages of drivers, which report each
 * attempt to connect, and stack traces are printed only with {@code --verbose}.
 */
final class StderrLogger extends LegacyAbstractLogger {

    private static final long serialVersionUID = 1L;

    /** Static, because SLF4J creates the loggers and passes no arguments. */
    private static final String VERBOSE = "latchkey.verbose";

    StderrLogger(String name) {
        this.name = name;
    }

    static void setVerbose(boolean verbose) {
        System.setProperty(VERBOSE, Boolean.toString(verbose));
    }

    private boolean isOurs() {
        return name.startsWith("dev.latchkey.");
    }

    private static boolean isVerbose() {
        return Boolean.getBoolean(VERBOSE);
    }

    @Override
    protected void handleNormalizedLoggingCall(
            Level level,
            @Nullable Marker marker,
            String pattern,
            Object @Nullable [] arguments,
            @Nullable Throwable failure) {
        String line = MessageFormatter.basicArrayFormat(pattern, arguments);
        ErrorMessages.say(
                System.err,
                level.name().toLowerCase(Locale.ROOT) + ": " + line
                        + (failure == null ? "" : " (" + failure.getMessage() + ")"));
        if (failure != null && isVerbose()) {
            ErrorMessages.explain(System.err, failure);
        }
    }

    @Override
    protected @Nullable String getFullyQualifiedCallerName() {
        return null;
    }

    @Override
    public boolean isTraceEnabled() {
        return false;
    }

    @Override
    public boolean isDebugEnabled() {
        return false;
    }

    @Override
    public boolean isInfoEnabled() {
        return false;
    }

    @Override
    public boolean isWarnEnabled() {
        return isOurs() || isVerbose();
    }

    @Override
    public boolean isErrorEnabled() {
        return isOurs() || isVerbose();
    }
}
