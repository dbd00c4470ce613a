package dev.latchkey.chaos.election;

import dev.latchkey.testkit.ChildJvm;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.PosixSignal;
import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A {@link Candidate} as it is seen from outside, with a network of its own. */
final class CandidateProcess implements AutoCloseable {

    private final Process process;
    private final FaultProxy proxy;
    private final BeliefFile beliefs;

    private CandidateProcess(Process process, FaultProxy proxy, BeliefFile beliefs) {
        this.process = process;
        this.proxy = proxy;
        this.beliefs = beliefs;
    }

    static CandidateProcess start(Path file, ServerAddress server, Duration ttl, CandidateKind kind) {
        FaultProxy proxy = FaultProxy.to(server);
        BeliefFile beliefs = BeliefFile.open(file);
        List<String> command = List.of(
                "-Xmx128m",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                Candidate.class.getName(),
                file.toString(),
                Long.toString(ttl.toMillis()),
                kind.name());
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(file.resolveSibling(file.getFileName() + ".err").toFile());
        builder.environment().put(Candidate.DSN, "redis://" + proxy.address());
        try {
            return new CandidateProcess(ChildJvm.of("candidate").start(builder), proxy, beliefs);
        } catch (IOException e) {
            throw new UncheckedIOException("could not start a JVM", e);
        }
    }

    List<BelievedTerm> terms() {
        return beliefs.terms();
    }

    FaultProxy proxy() {
        return proxy;
    }

    void send(char command) {
        try {
            process.getOutputStream().write(command);
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException("a candidate has ended by itself", e);
        }
    }

    /** SIGSTOP. */
    void freeze() {
        PosixSignal.STOP.sendTo(process.pid());
    }

    /** SIGCONT. */
    void thaw() {
        PosixSignal.CONT.sendTo(process.pid());
    }

    /** SIGKILL. What it believed can still be read. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        proxy.close();
    }
}
