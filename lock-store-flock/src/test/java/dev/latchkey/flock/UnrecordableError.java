package dev.latchkey.flock;

import java.io.Serial;

/** As if memory had run out: what records it asks for its message, and fails as well. */
final class UnrecordableError extends Error {

    @Serial
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
        throw this;
    }
}
