package dev.latchkey.documents;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** Stands before every command of a worker on a real server, so that it can end or be late exactly there. */
final class Interposed {

    /** The worker is no more. */
    static final class Crash extends Error {}

    /** Stops at one command until it may go on. */
    static final class Stop implements IntConsumer {

        private final int at;
        private final CountDownLatch there = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private volatile IntConsumer later = number -> {};

        Stop(int at) {
            this.at = at;
        }

        boolean isThere() {
            return there.getCount() == 0;
        }

        void goOn() {
            goOn.countDown();
        }

        /** Goes on until another stop. */
        void goOnTo(Stop next) {
            later = next;
            goOn();
        }

        @Override
        public void accept(int number) {
            later.accept(number);
            if (number == at) {
                there.countDown();
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    throw new Crash();
                }
            }
        }
    }

    private static final Set<String> COMMANDS =
            Set.of("findOneAndUpdate", "find", "aggregate", "insertOne", "deleteOne");

    private final IntConsumer beforeEach;
    private final IntConsumer afterEach;
    private final AtomicInteger number = new AtomicInteger();

    /**
     * Begins with the first command.
     *
     * @param beforeEach is told the number of each command, from 1, before it is sent
     */
    Interposed(IntConsumer beforeEach) {
        this(beforeEach, number -> {});
    }

    private Interposed(IntConsumer beforeEach, IntConsumer afterEach) {
        this.beforeEach = beforeEach;
        this.afterEach = afterEach;
    }

    /** Is told the number of each command when the server has done it, and before the worker hears of it. */
    static Interposed after(IntConsumer each) {
        return new Interposed(number -> {}, each);
    }

    MongoDatabase database(MongoDatabase real) {
        return proxy(MongoDatabase.class, real);
    }

    private <P> P proxy(Class<P> type, Object real) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            boolean isCommand = COMMANDS.contains(method.getName());
            int current = isCommand ? number.incrementAndGet() : 0;
            if (isCommand) {
                beforeEach.accept(current);
            }
            try {
                Object result = method.invoke(real, args);
                if (isCommand) {
                    afterEach.accept(current);
                }
                return result instanceof MongoCollection<?> ? proxy(MongoCollection.class, result) : result;
            } catch (InvocationTargetException e) {
                throw Objects.requireNonNull(e.getCause());
            }
        }));
    }
}
