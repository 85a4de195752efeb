import { lstat, readdir } from "node:fs/promises";
import { basename, resolve, dirname, join } from "node:path";
import type { Dirent } from "node:fs";
import { CorruptedRolloutError } from "../../base/errors.js";
import { isRecord } from "../../base/is-record.js";
import { HistoryBase } from "../../messages/rollout-line.js";
import { readLineBytes, withoutMark, type LineObject, rawLines } from "./lines.js";

/** Codex keeps rollouts in `sessions/2026/11/16`, and archived ones in a flat folder. */
const trees = ["sessions", "archived_sessions"];

const maxDepth = 3;

/** Further rollouts count as missing. */
const maxRollouts = 200_000;

const idAtEnd = /(?:^|[-_])([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/;

/** The first bytes of another rollout, with which a conversation forked or reverted by newer Codex begins. */
export interface RolloutPart {
  readonly path: string;
  readonly bytes: number;
}

/** The location of the `session_meta` line that names the earlier parts. */
interface MetaLocation {
  readonly path: string;
  readonly conversationId: string;
  readonly line: number;
}

/** Every revert adds one part; real conversations stay far below this limit. */
const maxParts = 1000;
const knownModes = new Set<unknown>([undefined, null, "legacy", "paginated"]);

/**
 * Returns the parts of other rollouts that precede a conversation, oldest first; empty without any lookup if it has
 * none.
 */
export async function findEarlierParts(meta: LineObject, place: MetaLocation): Promise<RolloutPart[]> {
  const refused = (detail: string) => new CorruptedRolloutError(place.conversationId, place.line, detail);
  const find = rolloutFinder(place.path);
  const parts: RolloutPart[] = [];
  const seen = new Set([resolve(place.path)]);
  let current: LineObject | undefined = meta;
  for (;;) {
    const base = baseOf(current);
    if (base === "none") return parts.toReversed();
    if (base === "unknown") throw refused("this version does not support its way of storing the history");
    const path = await find(base.thread_id);
    if (path === undefined) {
      throw refused(
        `its history starts in another rollout, which is missing: a file whose name ends in ${base.thread_id}.jsonl`,
      );
    }
    const name = basename(path);
    if (seen.has(path)) throw refused(`its history starts in ${name}, which refers to itself`);
    if (parts.length === maxParts) throw refused(`its history starts in more than ${maxParts} other rollouts`);
    const { size } = await lstat(path);
    if (size < base.end_byte_offset) {
      throw refused(
        `its history starts with the first ${base.end_byte_offset} bytes of ${name}, which has only ${size}`,
      );
    }
    seen.add(path);
    parts.push({ path, bytes: base.end_byte_offset });
    current = (await readFirstLine(path, place.conversationId))?.value;
  }
}

/** Whether a line says that the conversation begins in another rollout. */
export function hasEarlierParts(line: LineObject): boolean {
  return baseOf(line) !== "none";
}

/** Reads the base before the line is validated as a whole, so that it is not lost with a line that is skipped. */
function baseOf(meta: LineObject | undefined): HistoryBase | "none" | "unknown" {
  if (meta?.type !== "session_meta" || !isRecord(meta["payload"])) return "none";
  const { history_mode: mode, history_base: base } = meta["payload"];
  if (!knownModes.has(mode)) return "unknown";
  if (base === undefined || base === null) return "none";
  const checked = HistoryBase.safeParse(base);
  return checked.success ? checked.data : "unknown";
}

interface FirstLine {
  readonly number: number;
  readonly value: LineObject;
}

/**
 * Returns the first non-blank line if it is readable. The reader of the whole file reports damage, not this function.
 */
export async function readFirstLine(path: string, conversationId: string): Promise<FirstLine | undefined> {
  let number = 0;
  for await (const raw of rawLines(path, conversationId)) {
    number += 1;
    const read = raw.status === "line" ? readLineBytes(withoutMark(raw.bytes)) : undefined;
    if (read?.status === "object") return { number, value: read.value };
    if (read?.status !== "blank") return undefined;
  }
  return undefined;
}

/**
 * Finds other rollouts by the id at the end of their names: beside a rollout, then in Codex's tree around it,
 * archived ones last. Folders are read on the first lookup, and only once.
 */
function rolloutFinder(path: string): (id: string) => Promise<string | undefined> {
  const folder = dirname(resolve(path));
  let beside: Promise<ReadonlyMap<string, string>> | undefined;
  let around: Promise<ReadonlyMap<string, string>> | undefined;
  return async (id) => {
    beside ??= rolloutsIn([folder], 0);
    const found = (await beside).get(id);
    if (found !== undefined) return found;
    around ??= rolloutsIn(treesAround(folder), maxDepth);
    return (await around).get(id);
  };
}

/** Returns nothing when the folder is not part of a Codex home. */
function treesAround(folder: string): string[] {
  let inside = folder;
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    const home = dirname(inside);
    if (trees.includes(basename(inside))) return trees.map((name) => join(home, name));
    inside = home;
  }
  return [];
}

/** Maps ids to paths; the first of several files with the same id counts. */
async function rolloutsIn(folders: readonly string[], depth: number): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const waiting = folders.map((folder) => ({ folder, depth })).toReversed();
  for (let next = waiting.pop(); next !== undefined && found.size < maxRollouts; next = waiting.pop()) {
    for (const entry of await entriesOf(next.folder)) {
      const path = join(next.folder, entry.name);
      const id = entry.isFile() ? idAtEnd.exec(entry.name)?.[1] : undefined;
      if (id !== undefined && !found.has(id)) found.set(id, path);
      if (entry.isDirectory() && next.depth > 0) waiting.push({ folder: path, depth: next.depth - 1 });
    }
  }
  return found;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
