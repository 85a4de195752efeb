import { readFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { makeDirectory } from "../../base/fs/make-directory.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";
import { withFileLock } from "../file-lock.js";
import { homePaths } from "../paths.js";
import { commandsDigest, readProjectFile } from "./project-file.js";

/** The user's decision about a project; most projects have none. */
export type TrustLevel = "trusted" | "untrusted";

/** The decisions by the projects' real paths. If the file is damaged, no project is trusted. */
export async function readTrust(home: string): Promise<ReadonlyMap<string, TrustLevel>> {
  return await readEntries(homePaths(home).trust, isLevel);
}

/** Whether the user trusts the project at this root, which must be a real path. */
export async function isTrustedRoot(home: string, root: string): Promise<boolean> {
  return (await readTrust(home)).get(root) === "trusted";
}

/** The digests of the hooks and MCP servers that the user has agreed to, by the projects' real paths. */
export async function readTrustedCommands(home: string): Promise<ReadonlyMap<string, string>> {
  return await readEntries(homePaths(home).trustedCommands, isText);
}

/**
 * Records the decision about a project; undefined removes it. `commands` is the digest of the hooks and MCP servers that
 * the user has seen; without it, the project's present ones are trusted.
 */
export async function setTrust(
  home: string,
  root: string,
  level: TrustLevel | undefined,
  commands?: string,
): Promise<void> {
  const { trust, trustedCommands } = homePaths(home);
  const digest = level === "trusted" ? (commands ?? (await presentDigest(home, root))) : undefined;
  await makeDirectory(home);
  await withFileLock(`${trust}.lock`, async () => {
    // A crash in between must not lend an old decision to new commands.
    await writeEntry(trustedCommands, await readTrustedCommands(home), root, digest);
    await writeEntry(trust, await readTrust(home), root, level);
  });
}

async function presentDigest(home: string, root: string): Promise<string | undefined> {
  return await commandsDigest((await readProjectFile(home, root)).file).catch(() => undefined);
}

async function writeEntry(
  path: string,
  entries: ReadonlyMap<string, string>,
  root: string,
  value: string | undefined,
): Promise<void> {
  const changed = new Map(entries);
  changed.delete(root);
  if (value !== undefined) changed.set(root, value);
  if (changed.size === 0 && entries.size === 0) return;
  await writeAtomic(path, `${JSON.stringify(Object.fromEntries(changed), undefined, 2)}\n`);
}

async function readEntries<T extends string>(
  path: string,
  isValue: (value: unknown) => value is T,
): Promise<ReadonlyMap<string, T>> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    const entries = Object.entries(Object(value) as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, T] => isAbsolute(entry[0]) && isValue(entry[1])));
  } catch {
    return new Map();
  }
}

function isLevel(value: unknown): value is TrustLevel {
  return value === "trusted" || value === "untrusted";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
