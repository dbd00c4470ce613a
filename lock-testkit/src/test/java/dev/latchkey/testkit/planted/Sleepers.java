package dev.latchkey.testkit.planted;

import java.util.concurrent.TimeUnit;

/** Sleeps in every way there is. */
final class Sleepers {

    static final class Milliseconds {
        void sleep() throws InterruptedException {
            Thread.sleep(1);
        }
    }

    static final class Nanoseconds {
        void sleep() throws InterruptedException {
            Thread.sleep(1, 1);
        }
    }

    static final class Unit {
        void sleep() throws InterruptedException {
            TimeUnit.SECONDS.sleep(1);
        }
    }

    static final class ByReference {
        interface Sleep {
            void on(long millis) throws InterruptedException;
        }

        Sleep sleep() {
            return Thread::sleep;
        }
    }
}
