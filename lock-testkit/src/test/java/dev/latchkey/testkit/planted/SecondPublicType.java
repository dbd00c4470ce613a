package dev.latchkey.testkit.planted;

/** Another type that users see. */
public interface SecondPublicType {}
