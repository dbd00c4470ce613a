package dev.latchkey.chaos;

/** What the {@link Checker} proves or refutes. */
enum Rule {
    EXCLUSION("mutual exclusion: no two relied on holds that exclude each other"),
    TOKENS("fencing tokens: each greater than those of all holds before it"),
    WRITES("fenced writes: none accepted after one of a later holder, none refused to the holder"),
    UPDATES("no lost update: each write continued the one before it"),
    WAITS("no starvation: nobody waited longer than the bound"),
    TRANSFERS("keys given away: the giver believes in nothing then, the receiver holds on with the same token"),
    HANDOFF("handoff: what was free went to whoever waited, in time"),
    ORDER(
            "order: nobody overtook who had waited for longer in a quiet time, or stood before it in the queue on the server"),
    REFUSALS("refused promotions: nothing on the server was changed by them"),
    REASONS("no failure, loss or refusal without a fault"),
    LEFTOVERS("nothing left behind: every lock free for a newcomer, the backend clean"),
    CONDUCT("nothing unexpected: no other exception, nobody hangs, everybody comes back"),
    SUBSTANCE("enough to judge: locks were held, the register used, faults struck");

    private final String text;

    Rule(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }
}
