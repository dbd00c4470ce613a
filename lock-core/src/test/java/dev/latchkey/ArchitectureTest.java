package dev.latchkey;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.time.Clock;
import java.util.Date;
import java.util.stream.Stream;

@AnalyzeClasses(packages = "dev.latchkey", importOptions = ImportOption.DoNotIncludeTests.class)
@ArchTag("slow")
class ArchitectureTest {

    /** The name of the host is no driver: stores write it down for people. */
    @ArchTest
    static final ArchRule core_knows_no_driver = classes()
            .that()
            .doNotHaveSimpleName("LocalProcess")
            .and()
            .doNotHaveSimpleName("FlightRecording")
            .and(are(not(assignableTo("jdk.jfr.Event"))))
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "java.lang..",
                    "java.util..",
                    "java.time..",
                    "java.io",
                    "java.nio",
                    "java.nio.charset",
                    "java.security",
                    "org.slf4j..",
                    "org.jspecify.annotations..",
                    "dev.latchkey..");

    @ArchTest
    static final ArchRule no_wall_clock = noClasses()
            .should()
            .accessTargetWhere(target(name("currentTimeMillis")).or(target(name("now"))))
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(Clock.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(Date.class)
            .because("the monotonic clock measures waits and leases, and the store's clock decides expiry");

    /** A JVM may be without the flight recorder's module: no other class may need it but the one that looks for it. */
    @ArchTest
    static final ArchRule only_its_events_know_the_flight_recorder = noClasses()
            .that()
            .doNotHaveSimpleName("FlightRecording")
            .and(are(not(assignableTo("jdk.jfr.Event"))))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("jdk.jfr..");

    /** By name, for there are several, and a method reference is no call. */
    @ArchTest
    static final ArchRule no_sleep = noClasses()
            .should()
            .accessTargetWhere(target(name("sleep")))
            .because("a sleeping waiter can neither be woken nor withdrawn");

    @ArchTest
    static final ArchRule the_spi_knows_no_store = noClasses()
            .that()
            .resideInAPackage("dev.latchkey.spi")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.latchkey.store", "dev.latchkey.combined");

    @ArchTest
    static final ArchRule public_classes_are_final = classes()
            .that()
            .arePublic()
            .and()
            .areNotInterfaces()
            .and()
            .doNotHaveFullyQualifiedName(LockException.class.getName())
            .should()
            .haveModifier(JavaModifier.FINAL);

    /** Top-level classes with what they nest. A sealed class and the classes that it permits have to name each other. */
    private static final SliceAssignment BY_CLASS = new SliceAssignment() {

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            if (type.getPackageName().equals("dev.latchkey.combined")) {
                return SliceIdentifier.ignore();
            }
            return SliceIdentifier.of(
                    type.isAssignableTo(LockException.class) ? LockException.class.getName() : topLevel(type));
        }

        @Override
        public String getDescription() {
            return "top-level classes";
        }
    };

    private static String topLevel(JavaClass type) {
        return type.getName().replaceFirst("\\$.*", "");
    }

    /**
     * What stores exchange with the core is a layer of its own, though it is part of the API's package; and so is its entry, which
     * nothing in the core knows, and which creates what is built on locks.
     */
    private static final SliceAssignment BY_PACKAGE = new SliceAssignment() {

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            boolean isValue = Stream.of(
                            Key.class,
                            LockListener.class,
                            LockMode.class,
                            LossReason.class,
                            LockException.class,
                            LockConflictedException.class,
                            LockLostException.class,
                            LockStorageException.class,
                            UnserializableKeyException.class)
                    .anyMatch(value -> topLevel(type).equals(value.getName()));
            boolean isEntry = topLevel(type).equals(LockFactory.class.getName());
            return SliceIdentifier.of(isValue ? "values" : isEntry ? "entry" : type.getPackageName());
        }

        @Override
        public String getDescription() {
            return "packages";
        }
    };

    @ArchTest
    static final ArchRule no_class_cycles =
            slices().assignedFrom(BY_CLASS).should().beFreeOfCycles().because("nothing below calls up");

    @ArchTest
    static final ArchRule no_package_cycles =
            slices().assignedFrom(BY_PACKAGE).should().beFreeOfCycles().because("nothing below calls up");
}
