package dev.latchkey.spring;

/** What is wrong with how the application uses Latchkey, and what to do about it: {@link ConfigurationFailureAnalyzer} shows it. */
final class LatchkeyConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String action;

    LatchkeyConfigurationException(String problem, String action) {
        super(problem);
        this.action = action;
    }

    LatchkeyConfigurationException(String problem, String action, Throwable cause) {
        super(problem, cause);
        this.action = action;
    }

    String action() {
        return action;
    }
}
