package dev.latchkey.examples.spring;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OrderController {

    private final Orders orders;

    OrderController(Orders orders) {
        this.orders = orders;
    }

    @PostMapping("/orders/{id}/items/{items}")
    int addItems(@PathVariable long id, @PathVariable int items) {
        return orders.addItems(id, items);
    }
}
