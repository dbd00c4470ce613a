package dev.latchkey.memcached;

/** Writes for how long a hold lasts that begins now. */
@FunctionalInterface
interface HoldRecords {

    HoldRecord lasting(int seconds);
}
