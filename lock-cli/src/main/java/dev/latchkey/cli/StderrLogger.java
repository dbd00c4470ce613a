package dev.latchkey.cli;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** Prints warnings and errors on stderr, each a line, as the command's own messages are; stack traces if asked for. */
final class StderrLogger extends LegacyAbstractLogger {

    private static final long serialVersionUID = 1L;

    /** SLF4J makes the loggers, out of the reach of any argument. */
    private static final String VERBOSE = "latchkey.verbose";

    StderrLogger(String name) {
        this.name = name;
    }

    static void setVerbose(boolean verbose) {
        System.setProperty(VERBOSE, Boolean.toString(verbose));
    }

    @Override
    protected void handleNormalizedLoggingCall(
            Level level,
            @Nullable Marker marker,
            String pattern,
            Object @Nullable [] arguments,
            @Nullable Throwable failure) {
        String line = MessageFormatter.basicArrayFormat(pattern, arguments);
        System.err.println("lock: " + level.name().toLowerCase(Locale.ROOT) + ": " + line
                + (failure == null ? "" : " (" + failure.getMessage() + ")"));
        if (failure != null && Boolean.getBoolean(VERBOSE)) {
            failure.printStackTrace();
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
        return true;
    }

    @Override
    public boolean isErrorEnabled() {
        return true;
    }
}
