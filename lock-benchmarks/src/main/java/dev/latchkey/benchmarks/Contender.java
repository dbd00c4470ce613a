package dev.latchkey.benchmarks;

/**
 * One way to lock that is measured.
 *
 * @param title what it is, unlike all others of its contest
 * @param role why it is measured
 * @param mode what is held
 * @param without what it does not do that Latchkey does in the same cycle; empty if there is nothing to say
 * @param opener makes its client
 */
record Contender(String title, Role role, Mode mode, String without, Opener opener) {

    /** Why it is measured. */
    enum Role {
        LATCHKEY,
        PEER,
        FLOOR
    }

    /** What is held. */
    enum Mode {
        EXCLUSIVE,
        SHARED
    }

    /** Makes the one client of a process; it ends with the process. */
    interface Opener {
        Client open(String address) throws Exception;
    }

    /** Makes one thread's cycle. */
    interface Client {
        Cycle on(String resource) throws Exception;
    }

    static Contender latchkey(Opener opener) {
        return new Contender("Latchkey", Role.LATCHKEY, Mode.EXCLUSIVE, "", opener);
    }

    /** Another way to use Latchkey, compared with the first one. */
    static Contender latchkey(String variant, Opener opener) {
        return new Contender("Latchkey, " + variant, Role.LATCHKEY, Mode.EXCLUSIVE, "", opener);
    }

    static Contender latchkeyShared(Opener opener) {
        return new Contender("Latchkey, shared", Role.LATCHKEY, Mode.SHARED, "", opener);
    }

    static Contender peer(String title, String without, Opener opener) {
        return new Contender(title, Role.PEER, Mode.EXCLUSIVE, without, opener);
    }

    static Contender floor(String title, String without, Opener opener) {
        return new Contender(title, Role.FLOOR, Mode.EXCLUSIVE, without, opener);
    }

    Contender shared() {
        return new Contender(title, role, Mode.SHARED, without, opener);
    }
}
