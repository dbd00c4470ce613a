package dev.latchkey.etcd;

/** Who the store is for the server. */
record Credentials(String user, String password) {

    /** Without the password. */
    @Override
    public String toString() {
        return "Credentials[" + user + "]";
    }
}
