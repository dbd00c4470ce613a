package dev.latchkey.examples.spring;

import dev.latchkey.spring.LockTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;

/** The same without an annotation. */
@Service
class Stock {

    private final LockTemplate locks;
    private final JdbcClient sql;

    Stock(LockTemplate locks, JdbcClient sql) {
        this.locks = locks;
        this.sql = sql;
    }

    long count(String article) {
        return locks.call(
                "stock:" + article,
                () -> sql.sql("SELECT count(*) FROM stock WHERE article = ?")
                        .param(article)
                        .query(Long.class)
                        .single());
    }

    boolean clearUnlessBusy(String article) {
        return locks.tryRun(
                "stock:" + article,
                () -> sql.sql("DELETE FROM stock WHERE article = ?")
                        .param(article)
                        .update());
    }
}
