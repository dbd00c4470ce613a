package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.planted.ObedientStore;
import dev.latchkey.testkit.planted.OpenStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class StoreRulesTest {

    private static final String PLANTED = "dev.latchkey.testkit.planted.";

    private final StoreRules rules = StoreRules.of(ObedientStore.class).testedBy(AllContracts.class);

    @Test
    void givenAllRulesAreKept_whenChecked_thenNothingIsSaid() {
        assertThatCode(() -> rules.check(module())).doesNotThrowAnyException();
    }

    @Test
    void givenTwoTestsShareTheContracts_whenChecked_thenNothingIsSaid() {
        StoreRules shared = StoreRules.of(ObedientStore.class)
                .testedBy(PlainContracts.class)
                .testedBy(RestOfTheContracts.class);

        assertThatCode(shared::checkContracts).doesNotThrowAnyException();
    }

    @Test
    void givenNoTest_whenChecked_thenWhatEveryStoreNeedsIsNamed() {
        assertThatThrownBy(StoreRules.of(OpenStore.class)::checkContracts)
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll(
                        "no test of OpenStore implements PersistingStoreContract, as every PersistingStore must",
                        "CrashContract",
                        "ProcessContentionContract",
                        "HandoverContract, as every PersistingStore must unless it joins ProcessBoundContract",
                        "FencingContract, as every PersistingStore must unless it joins UnfencedContract");
    }

    @Test
    void givenCapabilityWithoutItsContract_whenChecked_thenThatContractAloneIsNamed() {
        assertThatThrownBy(StoreRules.of(ObedientStore.class).testedBy(AllButShared.class)::checkContracts)
                .isInstanceOf(AssertionError.class)
                .hasMessage("no test of ObedientStore implements SharedFencingContract, "
                        + "as every SharedStore with FencingContract must");
    }

    @Test
    void givenTwoCapabilitiesWithoutTheContractForBoth_whenChecked_thenItIsNamed() {
        assertThatThrownBy(StoreRules.of(SharedBlocking.class).testedBy(SeparateContracts.class)::checkContracts)
                .isInstanceOf(AssertionError.class)
                .hasMessage("no test of SharedBlocking implements SharedBlockingContract, "
                        + "as every SharedStore and BlockingStore must");
    }

    @Test
    void givenBoundToTheProcess_whenThatContractIsMissing_thenItIsNamedAndNotHandover() {
        assertThatThrownBy(StoreRules.of(ObedientStore.class).testedBy(AllButBound.class)::checkContracts)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("ProcessBoundContract, as every ProcessBound must");
    }

    @Test
    void givenASecondPublicType_whenChecked_thenNamed() {
        assertViolation("SecondPublicType");
    }

    @Test
    void givenAnotherPackage_whenChecked_thenNamed() {
        assertViolation("deep.InDeeperPackage");
    }

    @Test
    void givenThePublicStoreIsNotFinal_whenChecked_thenNamed() {
        JavaClasses module = StoreRules.read(importer -> importer.importClasses(OpenStore.class));

        assertThatThrownBy(() -> StoreRules.of(OpenStore.class)
                        .testedBy(HandoverContracts.class)
                        .check(module))
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll("OpenStore", "FINAL");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Milliseconds", "Nanoseconds", "Unit", "ByReference"})
    void givenASleep_whenChecked_thenNamed(String way) {
        assertViolation("Sleepers$" + way);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Milliseconds", "ByReference", "OfInstant", "OfZone", "OfClock", "OfDate", "OfCalendar"})
    void givenALookAtTheWallClock_whenChecked_thenNamed(String way) {
        assertViolation("ClockReaders$" + way);
    }

    @ParameterizedTest
    @ValueSource(strings = {"OfServer", "OfMonotonicClock"})
    void givenATimeThatIsNotOfTheWallClock_whenChecked_thenNothingIsSaid(String way) {
        assertThatCode(() -> rules.check(module("ClockReaders$" + way))).doesNotThrowAnyException();
    }

    @Test
    void givenAnExceptionForTheWallClock_whenChecked_thenNothingIsSaid() {
        StoreRules excepting =
                rules.readingTheWallClockIn(load(PLANTED + "ClockReaders$Milliseconds"), "for people to read");

        assertThatCode(() -> excepting.check(module("ClockReaders$Milliseconds")))
                .doesNotThrowAnyException();
    }

    @Test
    void givenAnExceptionThatIsNoLongerNeeded_whenChecked_thenNamed() {
        StoreRules excepting =
                rules.readingTheWallClockIn(load(PLANTED + "ClockReaders$OfServer"), "for people to read");

        assertThatThrownBy(() -> excepting.check(module("ClockReaders$OfServer")))
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll("OfServer", "does not read the wall clock", "for people to read");
    }

    @Test
    void givenAnotherStoreIsUsed_whenChecked_thenNamed() {
        assertViolation("UserOfOtherStore");
    }

    @Test
    void givenTheModuleOfARealClass_whenChecked_thenItsClassesWereReallySeen() {
        StoreRules core = StoreRules.of(InMemoryStore.class).testedBy(InMemoryStoreTest.class);

        assertThatThrownBy(core::check)
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll("dev.latchkey.store.NullStore", "dev.latchkey.LockFactory");
    }

    private void assertViolation(String planted) {
        assertThatThrownBy(() -> rules.check(module(planted)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(PLANTED + planted);
    }

    private static JavaClasses module(String... planted) {
        Class<?>[] types = new Class<?>[planted.length + 2];
        types[0] = ObedientStore.class;
        types[1] = ObedientStore.Builder.class;
        for (int i = 0; i < planted.length; i++) {
            types[i + 2] = load(PLANTED + planted[i]);
        }
        return StoreRules.read(importer -> importer.importClasses(types));
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(name + " was not planted", e);
        }
    }

    private interface SharedBlocking extends SharedStore, BlockingStore, ProcessBound, PersistingStore {}

    private interface PlainContracts
            extends PersistingStoreContract, ProcessBoundContract, SingleProcessContract, UnfencedContract {}

    private interface RestOfTheContracts extends SharedStoreContract {}

    private interface AllContracts extends PlainContracts, SharedStoreContract {}

    private interface AllButShared
            extends PersistingStoreContract, ProcessBoundContract, SingleProcessContract, FencingContract {}

    private interface SeparateContracts extends AllContracts, BlockingStoreContract {}

    private interface AllButBound
            extends PersistingStoreContract, SingleProcessContract, UnfencedContract, SharedStoreContract {}

    private interface HandoverContracts
            extends PersistingStoreContract, SingleProcessContract, UnfencedContract, HandoverContract {}
}
