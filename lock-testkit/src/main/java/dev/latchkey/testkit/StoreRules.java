package dev.latchkey.testkit;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.latchkey.spi.PersistingStore;
import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The rules for stores, as one test in the module of each:
 *
 * <pre>{@code
 * @Test
 * void keepsTheRules() {
 *     StoreRules.of(FlockStore.class).testedBy(FlockStoreIT.class).check();
 * }
 * }</pre>
 *
 * <ol>
 *   <li>Whatever the store can do, its tests join the contract for it ({@link ContractFor}).
 *   <li>The store is the only public top-level type of its module, all of which is in one package.
 *   <li>Public classes are final.
 *   <li>Nothing sleeps: a sleeping waiter can neither be woken nor withdrawn.
 *   <li>Nothing reads the wall clock of the client, but for what is named with {@link #readingTheWallClockIn}.
 *   <li>Of Latchkey the module knows the API, the SPI and itself: no other store.
 * </ol>
 *
 * <p>Immutable.
 */
public final class StoreRules {

    private static final List<Class<?>> CONTRACTS = contracts();

    private final Class<? extends PersistingStore> store;
    private final List<Class<? extends StoreContract>> tests;
    private final Map<String, String> clockReaders;

    private StoreRules(
            Class<? extends PersistingStore> store,
            List<Class<? extends StoreContract>> tests,
            Map<String, String> clockReaders) {
        this.store = store;
        this.tests = tests;
        this.clockReaders = clockReaders;
    }

    /**
     * Begins with a store that nothing tests yet.
     *
     * @param store the public class of its module
     * @return rules to {@link #check()}
     */
    public static StoreRules of(Class<? extends PersistingStore> store) {
        return new StoreRules(store, List.of(), Map.of());
    }

    /**
     * Names a test of the store; several tests may share its contracts among them.
     *
     * @param test joins contracts
     * @return rules that count this test as well
     */
    public StoreRules testedBy(Class<? extends StoreContract> test) {
        return new StoreRules(
                store, Stream.concat(tests.stream(), Stream.of(test)).toList(), clockReaders);
    }

    /**
     * Lets one class read the wall clock. It must really do so: an exception nobody needs any more is a violation, too.
     *
     * @param reader the only class that may
     * @param why what it does with the time that nobody's lease or wait depends on
     * @return rules with this exception
     */
    public StoreRules readingTheWallClockIn(Class<?> reader, String why) {
        Map<String, String> all = new TreeMap<>(clockReaders);
        all.put(reader.getName(), why);
        return new StoreRules(store, tests, all);
    }

    /**
     * Checks all rules.
     *
     * @throws AssertionError that names each violation, and what would be right
     */
    public void check() {
        URL module = store.getProtectionDomain().getCodeSource().getLocation();
        check(read(importer -> importer.importUrl(module)));
    }

    void check(JavaClasses module) {
        List<String> violations = new ArrayList<>(missingContracts());
        violations.addAll(ModuleRules.violations(store, clockReaders, module));
        fail(violations);
    }

    /**
     * Checks the first rule alone: for a store that shares its module with others.
     *
     * @throws AssertionError that names each missing contract
     */
    public void checkContracts() {
        fail(missingContracts());
    }

    private List<String> missingContracts() {
        List<Class<?>> missing = CONTRACTS.stream().filter(this::isMissing).toList();
        return missing.stream()
                .filter(contract -> missing.stream().noneMatch(other -> isPartOf(contract, other)))
                .map(contract -> "no test of " + store.getSimpleName() + " implements " + contract.getSimpleName()
                        + ", as " + obligation(contract.getAnnotation(ContractFor.class)))
                .toList();
    }

    /** Of the classes that these depend on, as of drivers and the JDK, names are all that the rules look at. */
    static JavaClasses read(Function<ClassFileImporter, JavaClasses> classes) {
        return ArchConfiguration.withThreadLocalScope(configuration -> {
            configuration.setResolveMissingDependenciesFromClassPath(false);
            return classes.apply(new ClassFileImporter());
        });
    }

    private static List<Class<?>> contracts() {
        JavaClasses testkit = read(importer -> importer.withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages(StoreRules.class.getPackageName()));
        return testkit.stream()
                .filter(type -> type.isAnnotatedWith(ContractFor.class))
                .<Class<?>>map(JavaClass::reflect)
                .toList();
    }

    private static boolean isPartOf(Class<?> contract, Class<?> other) {
        return contract != other && contract.isAssignableFrom(other);
    }

    private boolean isMissing(Class<?> contract) {
        ContractFor obligation = contract.getAnnotation(ContractFor.class);
        return Stream.of(obligation.value()).allMatch(capability -> capability.isAssignableFrom(store))
                && Stream.of(obligation.with()).allMatch(this::isJoined)
                && Stream.of(obligation.unless()).noneMatch(this::isJoined)
                && !isJoined(contract);
    }

    private boolean isJoined(Class<?> contract) {
        return tests.stream().anyMatch(contract::isAssignableFrom);
    }

    private static String obligation(ContractFor contract) {
        return "every " + names(" and ", contract.value())
                + (contract.with().length == 0 ? "" : " with " + names(" and ", contract.with()))
                + " must"
                + (contract.unless().length == 0 ? "" : " unless it joins " + names(" or ", contract.unless()));
    }

    private static String names(String separator, Class<?>[] types) {
        return String.join(separator, Stream.of(types).map(Class::getSimpleName).toList());
    }

    private static void fail(List<String> violations) {
        if (!violations.isEmpty()) {
            throw new AssertionError(String.join("\n", violations));
        }
    }
}
