package dev.latchkey.spring;

import java.util.Objects;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what is wrong, and what to do. */
final class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LatchkeyConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LatchkeyConfigurationException cause) {
        return new FailureAnalysis(Objects.requireNonNull(cause.getMessage()), cause.action(), rootFailure);
    }
}
