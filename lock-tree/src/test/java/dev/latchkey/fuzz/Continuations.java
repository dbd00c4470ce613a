package dev.latchkey.fuzz;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * Fibers on what virtual threads are made of, from Java 21 on: leaving one costs less than a microsecond. Needs {@code
 * --add-exports java.base/jdk.internal.vm=ALL-UNNAMED}.
 */
final class Continuations implements Carriers {

    private record Handles(Object scope, MethodHandle make, MethodHandle run, MethodHandle yield, MethodHandle isDone) {

        static @Nullable Handles find() {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                Class<?> scope = Class.forName("jdk.internal.vm.ContinuationScope");
                Class<?> type = Class.forName("jdk.internal.vm.Continuation");
                MethodType none = MethodType.methodType(void.class);
                return new Handles(
                        lookup.findConstructor(scope, MethodType.methodType(void.class, String.class))
                                .invoke("fuzz"),
                        lookup.findConstructor(type, MethodType.methodType(void.class, scope, Runnable.class))
                                .asType(MethodType.methodType(Object.class, Object.class, Runnable.class)),
                        lookup.findVirtual(type, "run", none).asType(MethodType.methodType(void.class, Object.class)),
                        lookup.findStatic(type, "yield", MethodType.methodType(boolean.class, scope))
                                .asType(MethodType.methodType(boolean.class, Object.class)),
                        lookup.findVirtual(type, "isDone", MethodType.methodType(boolean.class))
                                .asType(MethodType.methodType(boolean.class, Object.class)));
            } catch (Throwable e) {
                return null;
            }
        }
    }

    private static final @Nullable Handles HANDLES = Handles.find();

    private final Handles handles;
    private @Nullable Fiber next;
    private boolean over;

    Continuations() {
        if (HANDLES == null) {
            throw new IllegalStateException("this JVM shows no continuations");
        }
        handles = HANDLES;
    }

    static boolean areThere() {
        return HANDLES != null;
    }

    @Override
    public void run(World world) {
        over = false;
        Fiber fiber = world.next();
        while (fiber != null) {
            next = null;
            goOn(world, fiber);
            fiber = over ? null : next == null ? world.next() : next;
        }
    }

    private void goOn(World world, Fiber fiber) {
        try {
            Object stack = fiber.stack();
            if (stack == null) {
                stack = (Object) handles.make().invokeExact(handles.scope(), (Runnable) () -> world.runTask(fiber));
                fiber.setStack(stack);
            }
            world.goesOn(fiber);
            handles.run().invokeExact(stack);
            if ((boolean) handles.isDone().invokeExact(stack)) {
                fiber.setStack(null);
            }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void leave(Fiber running, @Nullable Fiber chosen) {
        next = chosen;
        over = chosen == null;
        try {
            boolean unused = (boolean) handles.yield().invokeExact(handles.scope());
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
