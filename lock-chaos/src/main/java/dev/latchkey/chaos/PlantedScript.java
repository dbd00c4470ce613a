package dev.latchkey.chaos;

import dev.latchkey.redis.ScriptTexts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A defect in one of the scripts, which strikes now and then, by the clock of the server: shows that the judge of a stress sees it.
 */
enum PlantedScript {
    /** What somebody holds is granted, as if nobody held it. */
    GRANTS_TWICE(
            "acquire",
            "local state = read(RAW, NOW)",
            "if want == 'x' and NOW % ONE_OF == 7 then state.live, state.by, state.mode = {}, {}, 'F' end",
            Rule.EXCLUSION),
    /** The fencing token of the hold before comes again. */
    REPEATS_TOKEN(
            "state",
            "local from = state.from or state.at",
            "if state.fence and state.at % ONE_OF == 7 then return state.fence end",
            Rule.TOKENS),
    /** The lease ends on the server 100 ms before its holder thinks so. One in eight holds is kept to the end of its lease. */
    BELIEVES_LONGER(
            "state",
            "local function lease(state, hold, ms, longest)",
            "if tonumber(ms) <= 150 and state.at % (ONE_OF / 8) < 1 then ms = math.max(1, ms - 100) end",
            Rule.EXCLUSION),
    /** A refresh is confirmed, and not done. One hold in 32 is refreshed as its lease ends. */
    CONFIRMS_UNDONE_REFRESH(
            "refresh",
            "local ends = own.ends",
            "if tonumber(ARGV[2]) <= 150 and state.at % (ONE_OF / 32) < 1 then "
                    + "return state.mode == 'X' and tonumber(state.fence) or 0 end",
            Rule.EXCLUSION),
    /** Who came last is served first. */
    SERVES_NEWEST_FIRST(
            "queue",
            "local found = free and",
            "state.at % ONE_OF == 7 and look('ZPOPMAX', QUEUE) or free and",
            Rule.ORDER);

    private final String script;
    private final String place;
    private final String planted;
    private final Rule rule;

    PlantedScript(String script, String place, String planted, Rule rule) {
        this.script = script;
        this.place = place;
        this.planted = planted;
        this.rule = rule;
    }

    /** The rule that has to be refuted by it. */
    Rule rule() {
        return rule;
    }

    /** Makes a directory with a script that is spoilt for about one of so many holds, to be found before that of the store. */
    Path in(Path directory, int oneOf) throws IOException {
        String file = script + ".lua";
        Path classes = Files.createDirectory(directory.resolve("planted"));
        Path scripts = Files.createDirectories(classes.resolve("dev/latchkey/redis"));
        Files.writeString(scripts.resolve(file), spoilt(ScriptTexts.file(file), oneOf));
        return classes;
    }

    private String spoilt(String source, int oneOf) {
        if (!source.contains(place) || source.indexOf(place) != source.lastIndexOf(place)) {
            throw new IllegalStateException(this + " is to be planted at a place that is not once in " + script);
        }
        return source.replace(place, place + ' ' + planted.replace("ONE_OF", Integer.toString(oneOf)));
    }
}
