/** The variable by which a command's processes are known, wherever they went. */
export const markerName = "CODY_CALL";

/**
 * Shell for the files in /proc of the processes that carry the marker `$1`; nothing where there is no /proc. Its status
 * says little: files of other users cannot be read.
 */
const findMarked = `grep -lsF "${markerName}=$1" /proc/[0-9]*/environ`;

/** The descriptor whose other end only we hold. */
export const guardDescriptor = 3;

// Signals a command may send to its own group; what cannot be ignored ends the guard with the rest.
const ignored = "HUP INT QUIT PIPE ALRM TERM USR1 USR2";

/**
 * Starts a guard in the command's group and becomes the command. The guard reads until the end of a descriptor that
 * ends when our process does, however it dies, and then kills what carries the marker and the whole group. It is forked
 * twice: a command that waits for all its children must not wait for one it never started. It is forked before the
 * marker is exported, so that it does not find itself, and with its signals ignored already, so that there is no moment
 * in which one of them ends it. It never has the command's output: the shell waits for who lets go of it first.
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

/** An argument vector with a guard: process id, exit code and signals are the command's own. */
export function guarded(argv: readonly string[], marker: string): { readonly file: string; readonly args: string[] } {
  return { file: "/bin/sh", args: ["-c", script, "cody", marker, ...argv] };
}
