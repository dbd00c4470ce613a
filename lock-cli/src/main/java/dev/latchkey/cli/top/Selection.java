package dev.latchkey.cli.top;

import dev.latchkey.spi.ListedResource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The rows that the filter leaves, which of them is chosen, and which are seen. The chosen resource stays so when rows change places. */
final class Selection {

    private List<ListedResource> rows = List.of();
    private @Nullable String chosen;
    private int chosenAt;
    private int first;

    void replace(List<ListedResource> newRows) {
        rows = newRows;
        for (int i = 0; chosen != null && i < rows.size(); i++) {
            if (rows.get(i).resource().equals(chosen)) {
                chosenAt = i;
                return;
            }
        }
        choose(chosenAt);
    }

    void chooseFirst() {
        chosen = null;
        choose(0);
    }

    void move(int by) {
        choose(chosenAt + by);
    }

    /** Without moving on, the first row stays the chosen one whichever comes there. */
    private void choose(int at) {
        chosenAt = Math.max(0, Math.min(rows.size() - 1, at));
        chosen = rows.isEmpty() || chosenAt == 0 ? null : rows.get(chosenAt).resource();
    }

    Optional<ListedResource> chosen() {
        return chosenAt < rows.size() ? Optional.of(rows.get(chosenAt)) : Optional.empty();
    }

    boolean isChosen(ListedResource row) {
        return chosen().filter(row::equals).isPresent();
    }

    int size() {
        return rows.size();
    }

    /** Returns those that are seen, the chosen one among them. */
    List<ListedResource> visible(int height) {
        int last = Math.max(0, rows.size() - height);
        first = Math.max(0, Math.min(first, Math.min(last, chosenAt)));
        if (chosenAt >= first + height) {
            first = chosenAt - height + 1;
        }
        return rows.subList(first, Math.min(rows.size(), first + height));
    }
}
