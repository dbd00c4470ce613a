package dev.latchkey.spring.elsewhere;

import dev.latchkey.spring.Locked;

/** A class to extend in another package, whose proxies cannot override its method. */
public class PackagePrivateWork {

    @Locked("'work'")
    void work() {}
}
