package dev.latchkey.etcd;

/** The server does not know the lease of a request, which has had no effect; it never leaves the store. */
final class LeaseGoneException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    LeaseGoneException(String resource) {
        super("the lease for " + resource + " is gone", null, false, false);
    }
}
