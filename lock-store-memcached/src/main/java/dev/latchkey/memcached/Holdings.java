package dev.latchkey.memcached;

/** Writes for how long a hold lasts that begins now. */
@FunctionalInterface
interface Holdings {

    Holding lasting(int seconds);
}
