# Starts the lock command. Sourced by the launcher, with $dist, the directory of lock-cli.jar and lib/, and "$@".
#
# The JVM takes the place of this shell: its process id, its signals and its exit code are those of the command.

# Of closed descriptors the JVM's files would take the place, and the command would read or write those. A closed stdout stays
# one that cannot be written to.
true 3>&2 || exec 2>/dev/null
{ true 3<&0; } 2>/dev/null || exec </dev/null
{ true 3>&1; } 2>/dev/null || exec 1</dev/null

# What the environment has for the JVM of an application, such as -Xms512m, another collector or a port, would end this one with
# 1, as if the command had, or be printed at each start. The command gets it back (ChildCommand). Not by an argument, which
# everybody can read.
for latchkey_name in JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS; do
    unset "LATCHKEY_KEPT_$latchkey_name"
    if eval "[ -n \"\${$latchkey_name+set}\" ]"; then
        eval "export LATCHKEY_KEPT_$latchkey_name=\"\$$latchkey_name\""
        unset "$latchkey_name"
    fi
done

fail() { printf 'lock: %s\n' "$1" >&2; exit 69; }

if [ -n "${JAVA_HOME:-}" ]; then
    java=$JAVA_HOME/bin/java
    [ -x "$java" ] || fail "there is no bin/java in JAVA_HOME ($JAVA_HOME): correct it or unset it"
else
    java=$(command -v java) || fail "no java found: install a JDK 17 or newer, or set JAVA_HOME"
fi

# Names, sizes and times of change of files: what a copy of an image keeps, and no locale or time zone changes.
marks() {
    stat -L -c '%n %s %Y' "$@" 2>/dev/null || stat -L -f '%N %z %m' "$@" # GNU and BusyBox; macOS
}

# The JVM of Java 17 starts the command with QUIT blocked; where env can undo that, it does.
unblock=
env --default-signal=QUIT true 2>/dev/null && unblock=-Dlatchkey.env-can-unblock=true

# The manifest of lock-cli.jar names the jars of the default store. Any other store has all: each jar on the class path takes
# half a millisecond of every start.
stores=
case "${LATCHKEY_STORE:-flock} $*" in
    *--store*) stores=all ;;
    flock\ * | flock:*) ;;
    *) stores=all ;;
esac
path=$dist/lock-cli.jar
if [ -n "$stores" ]; then
    for jar in "$dist"/lib/*.jar; do
        case $jar in
            */jline-*) ;;
            *) path=$path:$jar ;;
        esac
    done
fi

# Class-data sharing: the classes of a run, parsed and verified once. An archive fits one JVM and these very jars. A static
# one, for a dynamic one leaves out picocli, whose class files are of the old kind.
#
# It is made in a directory of its own and then named, which replaces nothing that is there: whoever writes to an archive in
# place kills the JVMs that have it in their memory, and their commands go on without the lock.
archive=$dist/classes-${stores:+$stores-}$(marks "$java" "$dist"/lock-cli.jar "$dist"/lib/*.jar | cksum | tr ' ' -).jsa
make_archive() {
    # One run for each kind of store: that of Redis fails to connect, which loads what connecting needs.
    # Its command takes a second: one that ends at once is not looked after as others are.
    train() (
        unset XDG_STATE_HOME
        HOME=$new "$java" -XX:DumpLoadedClassList="$new/$1" -Xlog:disable \
            ${unblock:+"$unblock"} -Dlatchkey.quit-log=/dev/null \
            -cp "$path" dev.latchkey.cli.Main run --store "$2" training -- sleep 1
    )
    train list flock || return
    if [ -n "$stores" ]; then
        train more redis://127.0.0.1:1
        cat "$new/more" >>"$new/list"
    fi
    "$java" -Xshare:dump -XX:+UseG1GC -XX:SharedClassListFile="$new/list" -XX:SharedArchiveFile="$new/classes.jsa" \
        -Xlog:disable -cp "$path"
}
if [ ! -e "$archive" ] && [ -w "$dist" ] && new=$(mktemp -d "$dist/classes.XXXXXX" 2>/dev/null); then
    # An empty one says that this JVM cannot: do not try at each start.
    make_archive </dev/null >/dev/null 2>&1 || true >"$new/none"
    if [ -e "$new/none" ] || [ ! -s "$new/classes.jsa" ]; then
        rm -f "$new/classes.jsa"
        true >"$new/classes.jsa"
    fi
    chmod 644 "$new/classes.jsa"
    ln "$new/classes.jsa" "$archive"
    rm -rf "$new"
fi 2>/dev/null
[ -s "$archive" ] || archive=

# What lock top draws with. It comes last, and for top alone, so that the archive of classes fits every verb.
if [ "${1:-}" = top ]; then
    for jar in "$dist"/lib/jline-*.jar; do
        path=$path:$jar
    done
fi

# The JVM reads arguments and prints in the locale's encoding. Without one, as under cron, or where the one that is named is
# not installed, a name beyond ASCII would become another name: give it UTF-8, and have it give the child the old value back.
lc_all=
if [ "$(locale charmap 2>&1)" != UTF-8 ]; then # What is not installed is complained of on stderr.
    lc_all=-Dlatchkey.lc-all=${LC_ALL:-} LC_ALL=C.UTF-8 && export LC_ALL
fi

# No Java code can handle QUIT, but the JVM logs the thread dump it makes then: into a pipe that nobody else knows, where
# lock reads it, whatever the verb: the JVM stands still when the pipe is full. The dump itself would only be in the way.
quit_log=
pipe=${TMPDIR:-/tmp}/lock-quit.$$
if [ -e /dev/fd/0 ] && mkfifo -m 600 "$pipe" 2>/dev/null; then
    exec 3<>"$pipe"
    rm -f "$pipe"
    quit_log=/dev/fd/3
fi

# C1 and the serial collector start fastest, and a lock needs no more; most of what C1 would compile at its usual thresholds
# is not called again. What picocli calls by reflection gets no class of its own after 15 calls. No hsperfdata file for each run. The command keeps the
# limit of open files it would have without us. What the JVM has to say, of an archive or of its own end, must not be mixed
# with the output of the command, nor be written to a file that everybody can read: that has the address of the store.
set -f # LATCHKEY_JAVA_OPTIONS are words, and no patterns of file names.
exec "$java" -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=4 -XX:+UseSerialGC -XX:-UsePerfData -Xmx256m -Xshare:auto \
    -XX:-MaxFDLimit -XX:+SuppressFatalErrorMessage -Xlog:disable -Xlog:all=error:stderr -Dsun.reflect.inflationThreshold=1000 \
    ${archive:+"-XX:SharedArchiveFile=$archive"} \
    ${lc_all:+"$lc_all"} \
    ${unblock:+"$unblock"} \
    ${quit_log:+"-Xlog:vmoperation=debug:file=$quit_log"} \
    ${quit_log:+"-Dlatchkey.quit-log=$quit_log"} \
    ${quit_log:+-XX:+UnlockDiagnosticVMOptions} ${quit_log:+-XX:-DisplayVMOutput} \
    ${stores:+--enable-native-access=ALL-UNNAMED} ${LATCHKEY_JAVA_OPTIONS:-} -cp "$path" dev.latchkey.cli.Main "$@"
