package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;
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

    /** As Java's own at the limit of open files: not alive. */
    private static ProcessHandle notSeenAtFirst(ProcessHandle process) {
        AtomicBoolean seen = new AtomicBoolean();
        return (ProcessHandle) Proxy.newProxyInstance(
                ProcessTreeTest.class.getClassLoader(),
                new Class<?>[] {ProcessHandle.class},
                (proxy, method, arguments) -> method.getName().equals("isAlive") && !seen.getAndSet(true)
                        ? false
                        : method.invoke(process, arguments));
    }
}
