package dev.latchkey.examples.spring;

import dev.latchkey.spring.CurrentLock;
import dev.latchkey.spring.IfHeld;
import dev.latchkey.spring.Locked;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** A job that each instance has, and one runs. */
@Component
class NightlyReport {

    private final JdbcClient sql;

    NightlyReport(JdbcClient sql) {
        this.sql = sql;
    }

    @Scheduled(cron = "${report.cron}")
    @Locked(value = "'nightly'", ifHeld = IfHeld.SKIP, minHold = "${report.min-hold}", maxHold = "2h")
    public void write() {
        long token = CurrentLock.get().fencingToken().getAsLong();
        sql.sql("INSERT INTO report (token) VALUES (?)").param(token).update();
    }
}
