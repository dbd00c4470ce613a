package dev.latchkey.testkit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;

/** The answer of a {@link SecondProcess} to one command, perhaps not there yet. */
public final class Reply {

    private final WorkerJvm process;
    private final String number;
    private final String command;
    private final CompletableFuture<List<String>> words;

    Reply(WorkerJvm process, String number, String command, CompletableFuture<List<String>> words) {
        this.process = process;
        this.number = number;
        this.command = command;
        this.words = words;
    }

    /**
     * Waits for the answer.
     *
     * @return what the command returned, as text
     * @throws RemoteFailure if it threw
     * @throws AssertionError if no answer comes within {@link SecondProcess#LIMIT}, or the process has ended
     */
    public String text() {
        return text(SecondProcess.LIMIT);
    }

    private String text(Duration limit) {
        try {
            List<String> answer = TimeLimits.get(words, limit);
            if (answer.get(0).equals(Worker.FAILED)) {
                throw new RemoteFailure(answer.get(1), answer.get(2));
            }
            return answer.get(1);
        } catch (TimeoutException e) {
            throw new AssertionError(process.said("no answer to \"" + command + "\" within " + limit), e);
        } catch (ExecutionException e) {
            throw new AssertionError(process.said("no answer to \"" + command + "\": the process has ended"), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for the answer to \"" + command + "\"", e);
        }
    }

    /**
     * Waits for the answer of a command that says yes or no.
     *
     * @return whether it said yes
     */
    public boolean isYes() {
        return Boolean.parseBoolean(text());
    }

    boolean isYes(Duration limit) {
        return Boolean.parseBoolean(text(limit));
    }

    /**
     * Tells whether the answer has come.
     *
     * @return true also if the process has ended
     */
    public boolean isDone() {
        return words.isDone();
    }

    /** Waits until the thread that runs the command in the other process is parked: it waits for the lock. */
    public void awaitWaiting() {
        Awaitility.await("the second process to wait in \"" + command + "\"")
                .pollInterval(Duration.ofMillis(5))
                .atMost(SecondProcess.LIMIT)
                .until(() -> isDone() || process.send("waits", number).isYes());
        if (isDone()) {
            throw new AssertionError("\"" + command + "\" did not wait, it answered " + text());
        }
    }
}
