package dev.latchkey.fuzz;

/** A promise that was broken. */
final class Violation extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Violation(String what) {
        super(what);
    }
}
