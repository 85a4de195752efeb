import type { SandboxSpec } from "../tools/exec/command-sandbox.js";

const maxPaths = 3;

/** A path in a message such as `touch: cannot touch '/etc/x': Read-only file system`. */
const readOnlyPath =
  /['"‘`]?(\/[^'"’`:\n]+|[^\s'"’`:\]]+)['"’`]?: Read-only file system|(?:EROFS|Read-only file system): [^\n]*?'([^'\n]+)'/g;

const noNetwork =
  /Network is unreachable|ENETUNREACH|EAI_AGAIN|Temporary failure in name resolution|Could not resolve host|Couldn't connect to server|Name or service not known|ENOTFOUND|No address associated with hostname/;

/** A refused system call: creating a socket, tracing, a user namespace. */
const notPermitted = /Operation not permitted|EPERM/;

const exceptions = {
  "read-only": "",
  "workspace-write": ", except git's hooks and configuration, .cody and instruction files",
} satisfies Record<SandboxSpec["mode"], string>;

interface DeniedInput {
  readonly spec: SandboxSpec;
  /** The output of a command that failed. */
  readonly output: string;
  /** The files whose content is hidden. */
  readonly hidden: readonly string[];
}

/** Describes for the model what the sandbox probably denied; empty if the output shows no sign of it. */
export function deniedNotes({ spec, output, hidden }: DeniedInput): string[] {
  const places = spec.mode === "read-only" ? ["/tmp"] : [spec.workspace, ...spec.writableRoots, "/tmp"];
  const paths = [...new Set(Array.from(output.matchAll(readOnlyPath), ([, first, second]) => first ?? second ?? ""))];
  const isReadOnly = paths.length > 0 || /Read-only file system|EROFS/.test(output);
  const named = hidden
    .map((path) => shownPath(path, spec))
    .filter((path) => output.includes(path))
    .slice(0, maxPaths);
  return [
    ...(isReadOnly
      ? [
          `read-only: ${paths.slice(0, maxPaths).join(", ") || "a path"}. Only ${places.join(", ")} can be written${exceptions[spec.mode]}`,
        ]
      : []),
    ...(spec.network === "off" && noNetwork.test(output) ? ["no network: the setting sandbox.network is off"] : []),
    ...(notPermitted.test(output)
      ? [
          `not permitted: unix sockets (${spec.unixSockets}), tracing other processes, and user namespaces may be refused`,
        ]
      : []),
    ...(named.length > 0 ? [`hidden, so that they look empty or cannot be read: ${named.join(", ")}`] : []),
  ];
}

/** Programs usually name a file of the workspace by its relative path. */
function shownPath(path: string, { workspace }: SandboxSpec): string {
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}
