package dev.latchkey.benchmarks;

import java.util.List;

/**
 * A store and all it is compared with. Made again, by its constructor without parameters, in the process of each contender.
 */
interface Contest {

    /** As the command and the files have it. */
    String store();

    /** What is measured; the first table is that of one thread. */
    List<Table> tables();

    /** All that run in its tables. */
    List<Contender> contenders();

    /** Starts what the contenders connect to, new for each table. */
    Servers start();

    /** As {@link #start()}, where the tables differ in their servers. */
    default Servers start(Table table) {
        return start();
    }

    /** Artifacts whose versions matter. */
    List<String> libraries();

    /** Makes it in another process. */
    static Contest named(String className) throws ReflectiveOperationException {
        return Class.forName(className)
                .asSubclass(Contest.class)
                .getDeclaredConstructor()
                .newInstance();
    }

    default Contender contender(String title) {
        return contenders().stream()
                .filter(contender -> contender.title().equals(title))
                .findFirst()
                .orElseThrow();
    }
}
