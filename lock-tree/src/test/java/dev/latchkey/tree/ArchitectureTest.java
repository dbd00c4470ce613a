package dev.latchkey.tree;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "dev.latchkey.tree", importOptions = ImportOption.DoNotIncludeTests.class)
@ArchTag("slow")
class ArchitectureTest {

    @ArchTest
    static final ArchRule trees_know_the_api_and_the_spi = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "java.lang..",
                    "java.util..",
                    "java.time..",
                    "java.io",
                    "org.slf4j..",
                    "org.jspecify.annotations..",
                    "dev.latchkey",
                    "dev.latchkey.spi",
                    "dev.latchkey.tree");
}
