package dev.latchkey.spring;

import org.springframework.util.ClassUtils;

/** Whether there can be transactions of Spring. */
final class Transactions {

    static final boolean IS_PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.TransactionExecutionListener", Transactions.class.getClassLoader());

    private Transactions() {}
}
