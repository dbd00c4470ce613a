package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.TimeLimits;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** What a locked method does, in one process. */
class LockedTest {

    private ConfigurableApplicationContext app;
    private Work work;
    private LockFactory locks;

    LockedTest() {
        app = Apps.start(
                Application.class,
                "latchkey.store=in-memory",
                "latchkey.prefix=app",
                "latchkey.ttl=20s",
                "my.wait=50ms");
        work = app.getBean(Work.class);
        locks = app.getBean(LockFactory.class);
    }

    @BeforeEach
    void isProxied() {
        assertThat(AopUtils.isAopProxy(work)).isTrue();
        assertThat(AopUtils.isAopProxy(app.getBean(Plain.class))).isFalse();
    }

    @AfterEach
    void close() {
        app.close();
    }

    @Test
    void givenTwoPermits_whenThreeCallsRunAtOnce_thenTheThirdFails() {
        Supplier<Integer> third =
                () -> CompletableFuture.supplyAsync(() -> work.limited(() -> 3)).join();
        Supplier<Integer> second = () -> CompletableFuture.supplyAsync(() -> work.limited(() -> {
                    assertThatThrownBy(third::get).hasRootCauseInstanceOf(LockConflictedException.class);
                    return locks.semaphore("app:api", 2).create().available();
                }))
                .join();

        assertThat(work.limited(second)).isZero();

        assertThat(locks.semaphore("app:api", 2).create().available()).isEqualTo(2);
        assertThat(holders("app:api")).isZero();
    }

    @Test
    void givenAPermit_whenACallInItHasTheSameKey_thenItNeedsNoOther() {
        Supplier<Integer> available =
                () -> locks.semaphore("app:api", 2).create().available();

        assertThat(work.limited(() -> work.limited(available))).isEqualTo(1);
    }

    @Test
    void givenAnArgument_thenItIsInTheKey_andTheLockIsHeldMeanwhile() {
        assertThat(work.order(7, () -> holders("app:order:7"))).isEqualTo(1);
        assertThat(holders("app:order:7")).isZero();
    }

    @Test
    void givenABeanInTheKey_thenItIsAsked() {
        assertThat(work.tenant(() -> holders("app:tenant-1"))).isEqualTo(1);
    }

    @Test
    void givenAnAnnotationMadeOfIt_thenLocks() {
        assertThat(work.made(() -> holders("app:made"))).isEqualTo(1);
    }

    @Test
    void givenAClassThatIsLocked_thenItsPublicMethodsAre() {
        assertThat(app.getBean(AllLocked.class).work(() -> holders("app:class")))
                .isEqualTo(1);
    }

    @Test
    void givenAnInterfaceThatIsLocked_thenItsImplementationIs() {
        assertThat(app.getBean(Contract.class).work(3, () -> holders("app:contract:3")))
                .isEqualTo(1);
    }

    /** As a repository of Spring Data, whose class does not implement the interface. */
    @Test
    void givenAnInterfaceOfAProxyAlone_thenItIsLocked() {
        assertThat(app.getBean("repository", Repository.class).find(5, () -> holders("app:row:5")))
                .isEqualTo(1);
        assertThat(app.getBean("mapper", Repository.class).find(6, () -> holders("app:row:6")))
                .isEqualTo(1);
    }

    @Test
    void givenAKeyThatIsNullOrEmptyInACall_thenRefused() {
        assertThatThrownBy(() -> work.named(null)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> work.named("")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void givenAKeyWhoseTextDiffersInEachInstance_thenRefused() {
        assertThatThrownBy(() -> work.keyed(new long[] {1}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is a long[], whose text differs in each instance");
        assertThatThrownBy(() -> work.keyed(new Plain())).isInstanceOf(IllegalArgumentException.class);
        assertThat(work.keyed(Optional.of(1))).isEqualTo("app:Optional[1]");
        assertThatThrownBy(() -> work.appended(new Plain()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Plain, whose text differs in each instance");
        assertThat(work.appended(Optional.of(1))).isEqualTo("app:one:1");
        assertThat(work.appended(IfHeld.WAIT)).isEqualTo("app:one:WAIT");
        assertThat(work.appended(7L)).isEqualTo("app:one:7");
        assertThatThrownBy(() -> work.keyed(List.of(new Plain()))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> work.appended(List.of(new Plain()))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> work.keyed(Optional.of(new Plain()))).isInstanceOf(IllegalArgumentException.class);
        assertThat(work.keyed(List.of(2, 1))).isEqualTo("app:[2, 1]");
        assertThat(work.appended(new Integer[] {2, 1})).isEqualTo("app:one:2,1");
        assertThat(work.counted(new Plain[] {new Plain()})).isEqualTo("app:count:1");
        assertThat(work.joined(new Integer[] {2, 1})).isEqualTo("app:joined:2+1");
        assertThatThrownBy(() -> work.joined(new Named[] {new Named("a")}))
                .hasStackTraceContaining("Named, whose text differs in each instance");
        assertThat(work.sorted(new TreeSet<>(List.of(2, 1)))).isEqualTo("app:sorted:1+2");
        assertThat(work.sorted(Set.of("b", "a"))).isEqualTo("app:sorted:a+b");
        assertThatThrownBy(() -> work.joined(Set.of("b", "a"))).hasStackTraceContaining("sort it");
        assertThatThrownBy(() -> work.listed(Set.of("b", "a"))).hasStackTraceContaining("sort it");
        assertThat(work.iterated(List.of("b", "a"))).isEqualTo("app:b+a");
        assertThatThrownBy(() -> work.iterated(Set.of("b", "a"))).hasStackTraceContaining("sort it");
        assertThatThrownBy(() -> work.iterated(Path.of("b", "a"))).hasStackTraceContaining("collect them to a list");
        assertThat(work.joinedTo("c", List.of("b"))).isEqualTo("app:c+b");
        assertThatThrownBy(() -> work.joinedTo("c", Set.of("b", "a"))).hasStackTraceContaining("sort it");
        assertThatThrownBy(() -> work.keyed(Map.of(1, "b", 2, "a").values())).hasStackTraceContaining("sort it");
        assertThat(work.treeSorted(Set.of("b", "a"))).isEqualTo("app:a+b");
        assertThat(work.treeMapped(Map.of(2, "a", 1, "b"))).isEqualTo("app:b+a");
        assertThat(work.listed(List.of(2, 1))).isEqualTo("app:listed:2+1");
        assertThat(work.streamed(List.of(2, 1))).isEqualTo("app:streamed:2+1");
        assertThatThrownBy(() -> work.streamed(List.of(new Named("a"))))
                .hasStackTraceContaining("Named, whose text differs in each instance");
        assertThatThrownBy(() -> work.joined(Stream.of("b", "a"))).hasStackTraceContaining("collect them to a list");
        assertThatThrownBy(() -> work.sorted(Stream.of("b", "a"))).hasStackTraceContaining("collect them to a list");
        assertThatThrownBy(() -> work.sorted(List.of(new Named("a"))))
                .hasStackTraceContaining("Named, whose text differs in each instance");
        assertThatThrownBy(() -> work.sorted(new Named[] {new Named("a")}))
                .hasStackTraceContaining("Named, whose text differs in each instance");
        assertThat(work.appended(new long[] {2, 1})).isEqualTo("app:one:2,1");
        assertThatThrownBy(() -> work.appended(new Object[] {new Plain()}))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @SuppressWarnings("JavaUtilDate")
    void givenAKeyWhoseTextDiffersInEachProcess_thenRefused() {
        assertThatThrownBy(() -> work.keyed(Set.of(1, 2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("whose order may differ in each process: sort it");
        assertThatThrownBy(() -> work.appended(Set.of(1, 2))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> work.keyed(List.of(Map.of(1, 1, 2, 2)))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> work.keyed(new Date(0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "a java.util.Date, whose text differs in each time zone: use a type of java.time");
        assertThatThrownBy(() -> work.appended(new Date(0))).isInstanceOf(IllegalArgumentException.class);
        assertThat(work.keyed(new TreeSet<>(Set.of(2, 1)))).isEqualTo("app:[1, 2]");
        assertThat(work.keyed(Set.of(1))).isEqualTo("app:[1]");
        assertThat(work.keyed(Path.of("a", "b"))).isEqualTo("app:" + Path.of("a", "b"));
        assertThatThrownBy(() -> work.keyed(new PriorityQueue<>(List.of(2, 1))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void givenAMethodMakesTheKey_whenItIsGivenASet_thenRefusedIfTheOrderMatters() {
        assertThatThrownBy(() -> work.numbered(Set.of(1L, 2L))).hasStackTraceContaining("sort it");
        assertThat(work.numbered(List.of(2, 1))).isEqualTo("app:[2, 1]");
        assertThatThrownBy(() -> work.asText(Set.of(1L, 2L))).hasStackTraceContaining("sort it");
        assertThat(work.asText(List.of(2, 1))).isEqualTo("app:[2, 1]");
        assertThat(work.hashed(new HashSet<>(Set.of(2L, 1L)))).isEqualTo("app:[1, 2]");
        assertThatThrownBy(() -> work.hashed(Set.of(1L, 2L))).hasStackTraceContaining("sort it");
        assertThat(work.sorted(Map.of(1, "b", 2, "a").values())).isEqualTo("app:sorted:a+b");
    }

    @Test
    void givenAMethodTakesATypeThatCanBeIteratedOver_thenGivenToItAsItIs() {
        assertThat(work.qualified(new QualifiedName("a", "b"))).isEqualTo("app:a.b");
    }

    @Test
    void givenItFails_thenReleasedAndThrown() {
        assertThatThrownBy(() -> work.order(7, () -> {
                    throw new UnsupportedOperationException("no");
                }))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(holders("app:order:7")).isZero();
    }

    @Test
    void givenHeld_whenItSkips_thenNothingIsRunAndNothingReturned() throws Exception {
        Lock other = locks.createLock("app:skip").acquire();
        AtomicBoolean ran = new AtomicBoolean();

        assertThat(work.skipped(ran)).isNull();
        assertThat(work.skippedOptional(ran)).isEmpty();
        assertThat(work.skippedStage(ran).toCompletableFuture()).isCompletedWithValue(null);
        assertThat(work.skippedMono(ran).blockOptional()).isEmpty();
        assertThat(work.skippedFlux(ran).collectList().block()).isEmpty();
        assertThat(ran).isFalse();

        other.close();
        assertThat(work.skipped(ran)).isEqualTo(1);
        assertThat(ran).isTrue();
    }

    @Test
    void givenHeld_whenItFailsOrItsWaitIsOver_thenConflict() throws Exception {
        try (Lock other = locks.createLock("app:held").acquire()) {
            assertThat(other.isExpired()).isFalse();
            assertThatThrownBy(() -> work.failing()).isInstanceOf(LockConflictedException.class);
            assertThatThrownBy(() -> work.waitingShortly()).isInstanceOf(LockConflictedException.class);
        }
        work.failing();
    }

    @Test
    void givenHeld_whenItWaits_thenRunsAfterTheRelease() throws Exception {
        Lock other = locks.createLock("app:order:7").acquire();
        CompletableFuture<Integer> done = CompletableFuture.supplyAsync(() -> work.order(7, () -> 1));
        assertThat(done).isNotDone();
        other.close();

        assertThat(done.get()).isEqualTo(1);
    }

    @Test
    void givenInterruptedWhileItWaits_thenConflictAndTheFlagStays() throws Exception {
        try (Lock other = locks.createLock("app:order:7").acquire()) {
            assertThat(other.isExpired()).isFalse();
            Thread.currentThread().interrupt();

            assertThatThrownBy(() -> work.order(7, () -> 1)).isInstanceOf(LockConflictedException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void givenReaders_thenTheyShare() {
        assertThat(work.read(() -> {
                    CompletableFuture<Integer> other =
                            CompletableFuture.supplyAsync(() -> work.read(() -> holders("app:rw")));
                    return other.join();
                }))
                .isEqualTo(2);
    }

    @Test
    void givenACallForTheSameKeyInTheSameThread_thenItGoesOnUnderTheSameHold() {
        int difference = work.order(7, () -> {
            long outer = CurrentLock.get().fencingToken().getAsLong();
            return (int) (outer
                    - work.<Long>nested(
                            7, () -> CurrentLock.get().fencingToken().getAsLong()));
        });

        assertThat(difference).isZero();
        assertThat(CurrentLock.find()).isEmpty();
    }

    @Test
    void givenItReadsUnderALock_whenItWantsToWrite_thenRefusedInsteadOfWaitingForItself() {
        assertThatThrownBy(() -> work.read(() -> work.write(() -> 1))).isInstanceOf(IllegalStateException.class);
        assertThat(work.write(() -> work.read(() -> 2))).isEqualTo(2);
    }

    @Test
    void givenAStage_thenHeldUntilItHasCompleted_andFreeWhenOthersSeeThat() {
        CompletableFuture<Integer> inner = new CompletableFuture<>();
        CompletionStage<Integer> outer = work.stage(inner);
        assertThat(holders("app:stage")).isEqualTo(1);

        CompletionStage<Integer> seen = outer.thenApply(result -> holders("app:stage"));
        inner.complete(1);

        assertThat(seen.toCompletableFuture().join()).isZero();
    }

    @Test
    void givenAnAsyncMethod_thenTheLockIsTakenWhereItRuns() throws Exception {
        CountDownLatch mayEnd = new CountDownLatch(1);
        CompletableFuture<Thread> ran = work.async(mayEnd);
        await().untilAsserted(() -> assertThat(holders("app:async")).isEqualTo(1));
        mayEnd.countDown();

        assertThat(ran.get()).isNotSameAs(Thread.currentThread());
        assertThat(holders("app:async")).isZero();
    }

    @Test
    void givenAMono_thenLockedFromItsSubscriptionToItsEnd() {
        Sinks.One<Integer> inner = Sinks.one();
        Mono<Integer> outer = work.mono(inner.asMono());
        assertThat(holders("app:mono")).isZero();

        CompletableFuture<Integer> result = outer.toFuture();
        await().untilAsserted(() -> assertThat(holders("app:mono")).isEqualTo(1));
        inner.tryEmitValue(1).orThrow();

        assertThat(result.join()).isEqualTo(1);
        assertThat(holders("app:mono")).isZero();
        assertThat(outer.block()).isEqualTo(1);
    }

    /** The release, or the work, found no thread: all waited for the lock, in this process and in all others. */
    @Test
    void givenMoreWaitThanThePoolOfReactorHasThreads_whenTheHolderIsDone_thenAllGetTheirTurn() {
        Sinks.One<Integer> inner = Sinks.one();
        CompletableFuture<Integer> first = work.mono(inner.asMono()).toFuture();
        await().untilAsserted(() -> assertThat(holders("app:mono")).isEqualTo(1));
        Mono<Integer> elsewhere = Mono.fromCallable(() -> 2).subscribeOn(Schedulers.boundedElastic());
        List<CompletableFuture<Integer>> others = new ArrayList<>();
        for (int i = 0; i <= Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE; i++) {
            others.add(work.mono(elsewhere).toFuture());
        }

        inner.tryEmitValue(1).orThrow();

        assertThat(first).succeedsWithin(TimeLimits.LIMIT);
        assertThat(others).allSatisfy(other -> assertThat(other).succeedsWithin(TimeLimits.LIMIT));
    }

    /** A thread that reads the answers of the store would have waited for one. */
    @Test
    void givenAStage_whenAThreadCompletesIt_thenThatDoesNotWaitForTheStore() throws Exception {
        CompletableFuture<Integer> inner = new CompletableFuture<>();
        CompletionStage<Thread> released = work.stage(inner).thenApply(result -> Thread.currentThread());

        inner.complete(1);

        assertThat(released.toCompletableFuture().get()).isNotSameAs(Thread.currentThread());
    }

    /** The work goes on, and must not be taken for done under the lock. */
    @Test
    void givenAnotherThreadEndsATransaction_whenTheWorkGoesOn_thenItIsLost() {
        TransactionSynchronizationManager.setActualTransactionActive(true);
        TransactionSynchronizationManager.initSynchronization();
        try {
            assertThatThrownBy(() -> work.order(7, () -> {
                        endElsewhere(TransactionSynchronizationManager.getSynchronizations());
                        assertThatThrownBy(() -> work.order(7, () -> 7)).isInstanceOf(LockLostException.class);
                        return 7;
                    }))
                    .isInstanceOf(LockLostException.class);
        } finally {
            TransactionSynchronizationManager.clear();
        }

        assertThat(work.order(7, () -> holders("app:order:7"))).isEqualTo(1);
    }

    @Test
    void givenAnotherThreadEndsATransaction_whenALaterCallInItGoesOn_thenItsLockIsLost() {
        TransactionSynchronizationManager.setActualTransactionActive(true);
        TransactionSynchronizationManager.initSynchronization();
        try {
            assertThat(work.order(7, () -> 7)).isEqualTo(7);
            assertThat(work.order(7, () -> {
                        endElsewhere(TransactionSynchronizationManager.getSynchronizations());
                        assertThatThrownBy(() -> work.order(7, () -> 7)).isInstanceOf(LockLostException.class);
                        return 8;
                    }))
                    .isEqualTo(8);
        } finally {
            TransactionSynchronizationManager.clear();
        }

        assertThat(work.order(7, () -> holders("app:order:7"))).isEqualTo(1);
    }

    private static void endElsewhere(List<TransactionSynchronization> all) {
        CompletableFuture.runAsync(
                        () -> all.forEach(one -> one.afterCompletion(TransactionSynchronization.STATUS_ROLLED_BACK)))
                .join();
    }

    /** As a transaction manager does whose timeout is over: calls of the first thread then went on without a lock. */
    @Test
    void givenAnotherThreadEndsATransaction_whenTheKeyIsLockedAgain_thenItIsNotTakenForHeld() {
        TransactionSynchronizationManager.setActualTransactionActive(true);
        TransactionSynchronizationManager.initSynchronization();
        try {
            assertThat(work.order(7, () -> 7)).isEqualTo(7);
            endElsewhere(TransactionSynchronizationManager.getSynchronizations());
        } finally {
            TransactionSynchronizationManager.clear();
        }
        assertThat(holders("app:order:7")).isZero();

        assertThat(work.order(7, () -> holders("app:order:7"))).isEqualTo(1);
    }

    @Test
    void givenAFlux_thenLockedUntilItIsCancelled() {
        assertThat(work.flux().take(2).collectList().block()).containsExactly(1, 2);
        await().untilAsserted(() -> assertThat(holders("app:flux")).isZero());
    }

    @Test
    void givenItTakesLongerThanItMay_thenLostAndInterruptedAndThrown() {
        assertThatThrownBy(() -> work.tooLong()).isInstanceOf(LockLostException.class);
        assertThat(Thread.interrupted())
                .as("the interrupt was for the work, which has seen it")
                .isFalse();
    }

    @Test
    void givenAMinHold_thenKeptFromOthersAfterTheEnd() {
        work.minHeld();

        assertThat(locks.createLock("app:min").tryAcquire()).isFalse();
    }

    @Test
    void givenATemplate_thenLocksAsTheAnnotationDoes() {
        LockTemplate template = app.getBean(LockTemplate.class);

        assertThat(template.<Integer, RuntimeException>call(
                        "order:7", () -> work.order(7, () -> holders("app:order:7"))))
                .isEqualTo(1);
        assertThat(template.tryRun(
                        "order:7", () -> assertThat(holders("app:order:7")).isEqualTo(1)))
                .isTrue();
        assertThatThrownBy(() -> template.run("", () -> {})).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void givenTheStoreHasNoProxyOfItsOwn_thenItIsTheOneOfTheFactory() {
        assertThat(app.getBeansOfType(PersistingStore.class)).hasSize(1);
    }

    private int holders(String resource) {
        return locks.holders(resource).size();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
                "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration"
            })
    @EnableAsync
    @Import({Work.class, Plain.class, AllLocked.class, Implementation.class})
    static class Application {
        @Bean
        Tenants tenants() {
            return new Tenants();
        }

        @Bean
        Repository repository() {
            return ProxyFactory.getProxy(Repository.class, (MethodInterceptor)
                    call -> ((Supplier<?>) Objects.requireNonNull(call.getArguments()[1])).get());
        }

        /** A proxy that is none of Spring's. */
        @Bean
        Repository mapper() {
            return (Repository) Proxy.newProxyInstance(
                    Repository.class.getClassLoader(),
                    new Class<?>[] {Repository.class},
                    (proxy, method, arguments) ->
                            arguments == null || arguments.length < 2 ? 0 : ((Supplier<?>) arguments[1]).get());
        }
    }

    static class Plain {}

    record QualifiedName(String schema, String table) implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return List.of(schema, table).iterator();
        }
    }

    /** Spring makes texts of it, because it can be made of one. */
    static class Named {
        public Named(String name) {
            assertThat(name).isNotNull();
        }
    }

    static class Tenants {
        public String current() {
            return "tenant-1";
        }
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Locked("'made'")
    @interface Made {
        @AliasFor(annotation = Locked.class, attribute = "ttl")
        String keptFor() default "10s";
    }

    interface Repository {
        @Locked("'row:' + #p0")
        int find(long id, Supplier<Integer> inner);
    }

    interface Contract {
        @Locked("'contract:' + #id")
        int work(long id, Supplier<Integer> inner);
    }

    static class Implementation implements Contract {
        @Override
        public int work(long id, Supplier<Integer> inner) {
            return inner.get();
        }
    }

    @Locked("'class'")
    static class AllLocked {
        public int work(Supplier<Integer> inner) {
            return inner.get();
        }
    }

    static class Work {

        @Locked("'order:' + #id")
        int order(long id, Supplier<Integer> inner) {
            return inner.get();
        }

        @Locked("'order:' + #id")
        <T> T nested(long id, Supplier<T> inner) {
            return inner.get();
        }

        @Locked("@tenants.current()")
        int tenant(Supplier<Integer> inner) {
            return inner.get();
        }

        @Made
        int made(Supplier<Integer> inner) {
            return inner.get();
        }

        @Locked("#name")
        void named(@Nullable String name) {}

        @Locked("#one")
        String keyed(Object one) {
            assertThat(one).isNotNull();
            return CurrentLock.get().resource();
        }

        @Locked("'one:' + #one")
        String appended(Object one) {
            assertThat(one).isNotNull();
            return CurrentLock.get().resource();
        }

        @Locked("'count:' + #root.target.count(#items)")
        String counted(Object[] items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        public int count(Object[] items) {
            return items.length;
        }

        @Locked("'joined:' + #root.target.join(#items)")
        String joined(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        @Locked("'sorted:' + #root.target.sort(#items)")
        String sorted(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        @Locked("T(String).join('+', #items)")
        String iterated(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        @Locked("T(String).join('+', #text, #items)")
        String joinedTo(String text, Object items) {
            assertThat(List.of(text, items)).hasSize(2);
            return CurrentLock.get().resource();
        }

        @Locked("#root.target.inOrder(#items)")
        String treeSorted(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        public String inOrder(SortedSet<String> texts) {
            return String.join("+", texts);
        }

        @Locked("#root.target.inOrderOfKeys(#items)")
        String treeMapped(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        public String inOrderOfKeys(SortedMap<Integer, String> texts) {
            return String.join("+", texts.values());
        }

        @Locked("'listed:' + #root.target.list(#items)")
        String listed(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        @Locked("#root.target.number(#items)")
        String numbered(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        public String number(List<Long> numbers) {
            return numbers.toString();
        }

        @Locked("T(java.util.Objects).toString(#items)")
        String asText(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        @Locked("#root.target.hash(#items)")
        String hashed(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        @SuppressWarnings("NonApiType")
        public String hash(HashSet<Long> numbers) {
            return new TreeSet<>(numbers).toString();
        }

        @Locked("#root.target.qualify(#name)")
        String qualified(QualifiedName name) {
            assertThat(name).isNotEmpty();
            return CurrentLock.get().resource();
        }

        public String qualify(QualifiedName name) {
            return name.schema() + "." + name.table();
        }

        public String list(List<String> texts) {
            return String.join("+", texts);
        }

        @Locked("'streamed:' + #root.target.stream(#items)")
        String streamed(Object items) {
            assertThat(items).isNotNull();
            return CurrentLock.get().resource();
        }

        public String stream(Stream<String> texts) {
            return texts.collect(Collectors.joining("+"));
        }

        public String sort(Collection<String> texts) {
            return texts.stream().sorted().collect(Collectors.joining("+"));
        }

        public String join(String... texts) {
            return String.join("+", texts);
        }

        @Locked(value = "'skip'", ifHeld = IfHeld.SKIP)
        @Nullable Integer skipped(AtomicBoolean ran) {
            ran.set(true);
            return 1;
        }

        @Locked(value = "'skip'", ifHeld = IfHeld.SKIP)
        Optional<Integer> skippedOptional(AtomicBoolean ran) {
            ran.set(true);
            return Optional.of(1);
        }

        @Locked(value = "'skip'", ifHeld = IfHeld.SKIP)
        CompletionStage<Integer> skippedStage(AtomicBoolean ran) {
            ran.set(true);
            return CompletableFuture.completedFuture(1);
        }

        @Locked(value = "'skip'", ifHeld = IfHeld.SKIP)
        Mono<Integer> skippedMono(AtomicBoolean ran) {
            ran.set(true);
            return Mono.just(1);
        }

        @Locked(value = "'skip'", ifHeld = IfHeld.SKIP)
        Flux<Integer> skippedFlux(AtomicBoolean ran) {
            ran.set(true);
            return Flux.just(1);
        }

        @Locked(value = "'held'", ifHeld = IfHeld.FAIL)
        void failing() {}

        @Locked(value = "'held'", maxWait = "${my.wait}")
        void waitingShortly() {}

        @Locked(value = "'rw'", mode = LockMode.SHARED)
        int read(Supplier<Integer> inner) {
            return inner.get();
        }

        @Locked(value = "'api'", permits = 2, ifHeld = IfHeld.FAIL)
        int limited(Supplier<Integer> inner) {
            return inner.get();
        }

        @Locked("'rw'")
        int write(Supplier<Integer> inner) {
            return inner.get();
        }

        @Locked("'stage'")
        CompletionStage<Integer> stage(CompletionStage<Integer> inner) {
            return inner;
        }

        @Locked("'async'")
        @Async
        CompletableFuture<Thread> async(CountDownLatch mayEnd) throws InterruptedException {
            mayEnd.await();
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        @Locked("'mono'")
        Mono<Integer> mono(Mono<Integer> inner) {
            return inner;
        }

        @Locked("'flux'")
        Flux<Integer> flux() {
            return Flux.range(1, 100).concatWith(Flux.never());
        }

        @Locked(value = "'long'", maxHold = "100ms")
        void tooLong() {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                // Told, and ends.
            }
        }

        @Locked(value = "'min'", minHold = "1m")
        void minHeld() {}
    }
}
