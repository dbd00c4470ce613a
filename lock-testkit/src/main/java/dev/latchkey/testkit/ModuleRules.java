package dev.latchkey.testkit;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** How the code of a store's module is to look. */
final class ModuleRules {

    private static final String LATCHKEY = "dev.latchkey";

    /** With arguments these make a time from a number, as drivers do with the server's; without, they look at the clock. */
    private static final Set<String> NOW_WITHOUT_ARGUMENTS =
            Set.of("java.util.Date.<init>", "java.util.GregorianCalendar.<init>");

    private static final Set<String> WALL_CLOCK =
            Set.of("java.lang.System.currentTimeMillis", "java.util.Calendar.getInstance");

    private static final Set<String> SLEEP = Set.of("java.lang.Thread.sleep", "java.util.concurrent.TimeUnit.sleep");

    private ModuleRules() {}

    static Collection<String> violations(Class<?> store, Map<String, String> clockReaders, JavaClasses module) {
        return Stream.concat(
                        Stream.of(
                                        oneStore(store),
                                        onePackage(store),
                                        publicClassesAreFinal(),
                                        noSleep(),
                                        noWallClock(clockReaders.keySet()),
                                        noOtherStore(store))
                                .map(rule -> rule.allowEmptyShould(true).evaluate(module))
                                .filter(result -> result.hasViolation())
                                .map(result -> result.getFailureReport().toString()),
                        staleExceptions(clockReaders, module))
                .toList();
    }

    private static ArchRule oneStore(Class<?> store) {
        return classes()
                .that()
                .areTopLevelClasses()
                .and()
                .doNotHaveFullyQualifiedName(store.getName())
                .should()
                .notBePublic()
                .because("the store is all that users see of its module; what belongs to it is nested in it");
    }

    private static ArchRule onePackage(Class<?> store) {
        return classes()
                .should()
                .resideInAPackage(store.getPackageName())
                .because("only one flat package can keep everything else package-private");
    }

    private static ArchRule publicClassesAreFinal() {
        return classes()
                .that()
                .arePublic()
                .and()
                .areNotInterfaces()
                .should()
                .haveModifier(JavaModifier.FINAL)
                .because("nothing is designed to be extended: what users override would have to stay as it is");
    }

    private static ArchRule noSleep() {
        return noClasses()
                .should()
                .accessTargetWhere(targets("sleep", access -> SLEEP.contains(name(access.getTarget()))))
                .because("a sleeping waiter can neither be woken nor withdrawn");
    }

    private static ArchRule noWallClock(Set<String> exceptions) {
        return noClasses()
                .that(describe("are not " + exceptions, type -> !exceptions.contains(type.getName())))
                .should()
                .accessTargetWhere(targets("read the wall clock", ModuleRules::readsTheWallClock))
                .because("the monotonic clock measures waits and leases, and the store's clock decides expiry");
    }

    private static ArchRule noOtherStore(Class<?> store) {
        return noClasses()
                .should()
                .dependOnClassesThat(resideInAPackage(LATCHKEY + "..")
                        .and(not(resideInAnyPackage(LATCHKEY, LATCHKEY + ".spi", store.getPackageName() + ".."))))
                .because("of Latchkey a store knows the API and the SPI; stores are combined by those who use them");
    }

    private static Stream<String> staleExceptions(Map<String, String> clockReaders, JavaClasses module) {
        return clockReaders.entrySet().stream()
                .filter(reader -> !module.contain(reader.getKey()) || !readsTheWallClock(module.get(reader.getKey())))
                .map(reader -> reader.getKey() + " does not read the wall clock any more: take the exception away ("
                        + reader.getValue() + ")");
    }

    private static boolean readsTheWallClock(JavaClass type) {
        return type.getAccessesFromSelf().stream().anyMatch(ModuleRules::readsTheWallClock);
    }

    private static boolean readsTheWallClock(JavaAccess<?> access) {
        AccessTarget target = access.getTarget();
        String name = name(target);
        return WALL_CLOCK.contains(name)
                || (target.getOwner().getPackageName().equals("java.time")
                        && target.getName().equals("now"))
                || target.getOwner().getName().equals("java.time.Clock")
                || (NOW_WITHOUT_ARGUMENTS.contains(name)
                        && target instanceof AccessTarget.CodeUnitAccessTarget made
                        && made.getRawParameterTypes().isEmpty());
    }

    private static String name(AccessTarget target) {
        return target.getOwner().getName() + "." + target.getName();
    }

    private static DescribedPredicate<JavaAccess<?>> targets(String description, Predicate<JavaAccess<?>> predicate) {
        return describe(description, predicate);
    }
}
