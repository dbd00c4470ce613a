package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Enumeration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An application with a Latchkey of its own, in a server that loads it anew: what it leaves behind can be collected. */
class ClassLoaderLeakTest {

    @Test
    void givenAnApplicationThatHasClosedItsFactory_whenItIsDropped_thenItsClassesAreCollected() throws Exception {
        WeakReference<ClassLoader> dropped = runOnce();

        await().atMost(LIMIT).until(() -> {
            System.gc();
            return dropped.get() == null;
        });
    }

    private static WeakReference<ClassLoader> runOnce() throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (OfApplication loader = new OfApplication()) {
            thread.setContextClassLoader(loader);
            Class<?> application = loader.loadClass(Application.class.getName());
            assertThat(application).isNotSameAs(Application.class);
            ((Runnable) application.getDeclaredConstructor().newInstance()).run();
            return new WeakReference<>(loader);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** Run by the loader of the application. */
    public static final class Application implements Runnable {

        @Override
        public void run() {
            try (LockFactory locks = LockFactory.connect("in-memory")) {
                Lock lock = locks.lock("x").autoRefresh().create();
                assertThat(lock.tryAcquire()).isTrue();
                assertThat(lock.release()).isTrue();
            }
        }
    }

    private static final class OfApplication extends URLClassLoader {

        OfApplication() {
            super(
                    List.of(LockFactory.class, Application.class).stream()
                            .map(each ->
                                    each.getProtectionDomain().getCodeSource().getLocation())
                            .toArray(URL[]::new),
                    ClassLoaderLeakTest.class.getClassLoader());
        }

        /** Beside other stores, it would find their providers, but not their classes. */
        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            return findResources(name);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("dev.latchkey.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? findClass(name) : loaded;
            }
        }
    }
}
