package dev.latchkey;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A hold that has just ended without a release, with those who want to know. */
record Loss(LossReason reason, @Nullable HoldTracker watch, List<Consumer<? super LossReason>> listeners) {}
