import { basename } from "node:path";

/** Folders whose files run programs or change what cody may do. */
const protectedFolders: ReadonlySet<string> = new Set([".git", ".cody"]);

/** Files that instruct models; a changed one would instruct every later conversation. */
const instructionFiles: ReadonlySet<string> = new Set(["agents.md", "agents.override.md", "claude.md"]);

/**
 * Explains why only a person may decide that a file is changed; undefined if nothing protects it. Compared without
 * case, because some file systems ignore it.
 */
export function protectedReason(path: string): string | undefined {
  const found = path.split("/").find((name) => protectedFolders.has(name.toLowerCase()));
  if (found !== undefined) return `is in ${found}, where files may run programs`;
  return instructionFiles.has(basename(path).toLowerCase()) ? "instructs models" : undefined;
}
