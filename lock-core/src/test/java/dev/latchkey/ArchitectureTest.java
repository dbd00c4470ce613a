package dev.latchkey;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.util.Date;

@AnalyzeClasses(packages = "dev.latchkey", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    /** The name of the host is no driver: stores write it down for people. */
    @ArchTest
    static final ArchRule core_knows_no_driver = classes()
            .that()
            .doNotHaveSimpleName("LocalProcess")
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
}
