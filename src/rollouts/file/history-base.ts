import { lstat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { CorruptedRolloutError } from "../../base/errors.js";
import { isRecord } from "../../base/is-record.js";
import { HistoryBase } from "../../messages/rollout-line.js";
import { rolloutFinder } from "../list/find-rollout.js";
import { readLineBytes, withoutMark, type LineObject } from "./line-object.js";
import { rawLines } from "./raw-lines.js";

/** The first bytes of another rollout, with which a conversation forked or reverted by newer Codex begins. */
export interface RolloutPart {
  readonly path: string;
  readonly bytes: number;
}

/** The location of the `session_meta` line that names the earlier parts. */
export interface MetaLocation {
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

/** Reads the base before the line is validated as a whole, so that it is not lost with a line that is skipped. */
function baseOf(meta: LineObject | undefined): HistoryBase | "none" | "unknown" {
  if (meta?.type !== "session_meta" || !isRecord(meta["payload"])) return "none";
  const { history_mode: mode, history_base: base } = meta["payload"];
  if (!knownModes.has(mode)) return "unknown";
  if (base === undefined || base === null) return "none";
  const checked = HistoryBase.safeParse(base);
  return checked.success ? checked.data : "unknown";
}

export interface FirstLine {
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
