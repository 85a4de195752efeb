import { dirname } from "node:path";
import type { SandboxSpec } from "../tools/exec/command-sandbox.js";
import { filterDescriptor, infoDescriptor } from "../tools/exec/command-sandbox.js";

/** The state of one path in a sandbox. All paths are real paths that exist; everything else is read-only. */
export type Mount =
  | { readonly kind: "writable" | "read-only"; readonly path: string; readonly from?: string }
  /** Shows a folder without its content. */
  | { readonly kind: "empty-folder"; readonly path: string }
  /** Shows a file without its content. */
  | { readonly kind: "empty-file"; readonly path: string }
  /** Shows a file that nobody may read. */
  | { readonly kind: "unreadable-file"; readonly path: string };

interface BwrapLayout extends Pick<SandboxSpec, "network"> {
  readonly mounts: readonly Mount[];
  /** A file without content, which only its owner may write to, and one that even its owner may not read. */
  readonly files: { readonly empty: string; readonly unreadable: string };
  /** False in containers that do not permit mounting /proc. */
  readonly mountsProc: boolean;
  readonly cwd: string;
}

/** The same path may be named more than once: then the strictest applies. */
const strictness = { writable: 0, "read-only": 1, "empty-folder": 2, "empty-file": 2, "unreadable-file": 3 } as const;

/**
 * The arguments of bubblewrap, up to the command's own. Folders are mounted before what is inside them, so that the
 * more specific path applies.
 */
export function bwrapArguments({ mounts, network, files, mountsProc, cwd }: BwrapLayout): string[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) {
    const other = byPath.get(mount.path);
    if (other === undefined || strictness[other.kind] <= strictness[mount.kind]) byPath.set(mount.path, mount);
  }
  const ordered = [...byPath.values(), ...foldersToPin(byPath)].toSorted((one, other) =>
    one.path < other.path ? -1 : 1,
  );
  const namespaces = ["user", "pid", "ipc", "uts", ...(network === "off" ? ["net"] : [])];
  return [
    ...namespaces.map((name) => `--unshare-${name}`),
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    ...optionOf("--cap-drop", "ALL"),
    ...optionOf("--seccomp", String(filterDescriptor)),
    ...optionOf("--json-status-fd", String(infoDescriptor)),
    ...optionOf("--ro-bind", "/", "/"),
    ...optionOf("--dev", "/dev"),
    // Read-only, because root may write to /proc/sys although it has no capabilities.
    ...(mountsProc ? optionOf("--proc", "/proc", "--remount-ro", "/proc") : []),
    ...ordered.flatMap((mount) => mountArguments(mount, files)),
    // Only now: mount points inside an empty folder are created in it.
    ...ordered.flatMap(({ kind, path }) => (kind === "empty-folder" ? optionOf("--remount-ro", path) : [])),
    ...optionOf("--chdir", cwd),
    "--",
  ];
}

function optionOf(...words: readonly string[]): readonly string[] {
  return words;
}

/**
 * The folders between a mount and the writable folder it is in, mounted on themselves: a folder that only contains a
 * mount could be renamed, and then the next command would find nothing to hide or protect at its path.
 */
function foldersToPin(byPath: ReadonlyMap<string, Mount>): Mount[] {
  const pinned = new Set<string>();
  for (const path of byPath.keys()) {
    const between: string[] = [];
    let folder = dirname(path);
    while (folder !== "/" && !byPath.has(folder)) {
      between.push(folder);
      folder = dirname(folder);
    }
    const outer = byPath.get(folder);
    if (outer?.kind === "writable" && outer.from === undefined) for (const each of between) pinned.add(each);
  }
  return Array.from(pinned, (path) => ({ kind: "writable", path }));
}

function mountArguments(mount: Mount, files: BwrapLayout["files"]): readonly string[] {
  const { kind, path } = mount;
  if (kind === "empty-folder") return optionOf("--tmpfs", path);
  if (kind === "empty-file") return optionOf("--ro-bind", files.empty, path);
  if (kind === "unreadable-file") return optionOf("--ro-bind", files.unreadable, path);
  return optionOf(kind === "writable" ? "--bind" : "--ro-bind", mount.from ?? path, path);
}
