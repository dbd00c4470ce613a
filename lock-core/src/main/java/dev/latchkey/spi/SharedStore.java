package dev.latchkey.spi;

/**
 * A store that supports {@link dev.latchkey.LockMode#SHARED} in every operation; each shared hold expires by itself. On
 * other stores, a shared request acquires the exclusive lock.
 */
public interface SharedStore extends PersistingStore {}
