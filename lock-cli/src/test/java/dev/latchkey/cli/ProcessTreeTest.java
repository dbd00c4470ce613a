package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class ProcessTreeTest {

    /** It counted as gone, and the lock was released while it ran. */
    @Test
    void givenAProcessCouldNotBeLookedAt_whenAFileCanBeOpenedAgainRightAfter_thenItIsNotGone() {
        ProcessHandle process = ProcessHandle.current();

        assertThat(new ProcessTree(notSeenAtFirst(process)).isGone()).isFalse();
    }

    /** The failure was thrown, and the lock was released while the command ran. */
    @Test
    void givenTheListOfProcessesCannotBeRead_whenAllAreToBeKilled_thenItIsReadAgain() throws Exception {
        Process child = new ProcessBuilder("sleep", "300").start();
        try {
            ProcessTree.killAllBelow(failingAtFirst(child.toHandle()));

            assertThat(child.isAlive()).isFalse();
        } finally {
            child.destroyForcibly();
        }
    }

    /** What has ended was asked for its descendants: Java returns those of the process that has its number now. */
    @Test
    void givenAProcessHasEndedAndItsNumberIsUsedAgain_whenAllAreToBeKilled_thenTheDescendantsOfTheOtherGoOn() {
        List<String> calls = new ArrayList<>();
        ProcessHandle stranger = proxy((method, arguments) -> {
            calls.add(method.getName());
            return method.invoke(ProcessHandle.current(), arguments);
        });
        ProcessTree tree = new ProcessTree(ended(ProcessHandle.current(), stranger));

        tree.kill();

        assertThat(tree.isGone()).isTrue();
        assertThat(calls).isEmpty();
    }

    /** As while a signal to the group is on its way here. It was forgotten, and the lock was released while it ran. */
    @Test
    void givenTheChildHasEnded_whenGlimpsedOnceMore_thenWhatItStartedIsRememberedForASignalOfThatTime()
            throws Exception {
        Process child = new ProcessBuilder("sh", "-c", "sleep 300 & wait").start();
        ProcessTree tree = new ProcessTree(child.toHandle());
        Awaitility.await().until(() -> child.descendants().findAny().isPresent());
        ProcessHandle started = child.descendants().findAny().orElseThrow();
        try {
            tree.glimpse();
            child.destroyForcibly().waitFor();

            long before = System.nanoTime();
            tree.glimpse();
            tree.glimpse();
            tree.glimpse();
            tree.rememberGlimpsed(System.nanoTime() + TimeUnit.SECONDS.toNanos(1));
            assertThat(tree.isGone()).as("left behind before a later signal").isTrue();

            tree.rememberGlimpsed(before);
            assertThat(tree.isGone()).isFalse();
        } finally {
            started.destroyForcibly();
        }
    }

    /** As Java's own: it knows by the time of its start that it has ended, and reads its descendants by its number. */
    private static ProcessHandle ended(ProcessHandle usesItsNumber, ProcessHandle descendant) {
        return proxy((method, arguments) -> switch (method.getName()) {
            case "isAlive" -> false;
            case "descendants" -> Stream.of(descendant);
            default -> method.invoke(usesItsNumber, arguments);
        });
    }

    /** As Java's own at the limit of open files. */
    private static ProcessHandle failingAtFirst(ProcessHandle child) {
        AtomicBoolean failed = new AtomicBoolean();
        return proxy((method, arguments) -> {
            if (!failed.getAndSet(true)) {
                throw new IllegalStateException("planted");
            }
            return Stream.of(child);
        });
    }

    private static ProcessHandle proxy(Call call) {
        return (ProcessHandle) Proxy.newProxyInstance(
                ProcessTreeTest.class.getClassLoader(),
                new Class<?>[] {ProcessHandle.class},
                (proxy, method, arguments) -> call.of(method, arguments));
    }

    private interface Call {
        Object of(Method method, Object[] arguments) throws ReflectiveOperationException;
    }

    /** As Java's own at the limit of open files: not alive. */
    private static ProcessHandle notSeenAtFirst(ProcessHandle process) {
        AtomicBoolean seen = new AtomicBoolean();
        return proxy((method, arguments) -> method.getName().equals("isAlive") && !seen.getAndSet(true)
                ? false
                : method.invoke(process, arguments));
    }
}
