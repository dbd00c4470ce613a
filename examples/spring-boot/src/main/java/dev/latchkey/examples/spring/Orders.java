package dev.latchkey.examples.spring;

import dev.latchkey.spring.Locked;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Orders, each of which one instance changes at a time. */
@Service
class Orders {

    private final JdbcClient sql;

    Orders(JdbcClient sql) {
        this.sql = sql;
    }

    @Locked("'order:' + #id")
    @Transactional
    public int addItems(long id, int items) {
        int before = sql.sql("SELECT items FROM orders WHERE id = ?")
                .param(id)
                .query(Integer.class)
                .optional()
                .orElse(0);
        sql.sql(
                        before == 0
                                ? "INSERT INTO orders (items, id) VALUES (?, ?)"
                                : "UPDATE orders SET items = ? WHERE id = ?")
                .params(before + items, id)
                .update();
        return before + items;
    }
}
