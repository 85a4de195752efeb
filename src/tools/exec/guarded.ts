/** The environment variable that identifies a command's processes, even after they leave its group. */
export const markerName = "CODY_CALL";

/**
 * Shell command that lists the `environ` files in /proc of the processes with the marker `$1`; nothing where there is
 * no /proc. Its exit status is meaningless, because files of other users cannot be read.
 */
const findMarked = `grep -lsF "${markerName}=$1" /proc/[0-9]*/environ`;

/** The file descriptor whose other end only this process holds. */
export const guardDescriptor = 3;

// Signals that a command may send to its own group. A signal that cannot be ignored ends the guard together with the
// command.
const ignored = "HUP INT QUIT PIPE ALRM TERM USR1 USR2";

/**
 * Starts a guard in the command's group and then executes the command in place. The guard reads a descriptor that
 * closes when our process ends, however it dies; then it kills every process with the marker and the whole group. It is
 * forked twice, so that a command that waits for all its children does not wait for the guard. It is forked before the
 * marker is exported, so that it does not find itself, and after its signals are ignored, so that none can end it at
 * startup. It never holds the command's output open, because the end of that output is what the shell tool waits for.
 */
const script = `trap '' ${ignored}
( exec </dev/null >/dev/null 2>&1
(
while read -r _ <&${guardDescriptor}; do :; done
export PATH=/usr/bin:/bin LC_ALL=C; rounds=10
while found=$(${findMarked}); [ -n "$found" ] && [ $rounds -gt 0 ]; do
for file in $found; do file=\${file#/proc/}; kill -KILL \${file%/environ}; done
rounds=$((rounds - 1))
done
kill -KILL 0
) & )
trap - ${ignored}
export ${markerName}="$1"
shift
exec "$@" ${guardDescriptor}<&-`;

/** Adds a guard to an argument vector. Process id, exit code and signals are still the command's own. */
export function withGuard(argv: readonly string[], marker: string): { readonly file: string; readonly args: string[] } {
  return { file: "/bin/sh", args: ["-c", script, "cody", marker, ...argv] };
}
