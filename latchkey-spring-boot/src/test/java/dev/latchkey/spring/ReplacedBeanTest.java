package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spring.test.AutoConfigureLatchkey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/** A test that has put its own object in the place of a bean with a locked method, as mocks are. */
@ExtendWith(SpringExtension.class)
@SpringBootTest(classes = ReplacedBeanTest.Application.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
@AutoConfigureLatchkey
class ReplacedBeanTest {

    @TestBean
    private Work work;

    ReplacedBeanTest(@Autowired Work work) {
        this.work = work;
    }

    static Work work() {
        return new Work();
    }

    @Test
    void givenABeanOfTheTest_thenStartsAndDoesNotLockIt() {
        assertThat(work.isUnderLock()).isFalse();
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Work.class)
    static class Application {}

    static class Work {
        @Locked("'replaced'")
        boolean isUnderLock() {
            return CurrentLock.find().isPresent();
        }
    }
}
