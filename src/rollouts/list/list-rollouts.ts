import { basename, join, resolve } from "node:path";
import { bareId } from "../../base/text/conversation-id.js";
import { InvalidInputError } from "../../base/errors.js";
import { cursorText, parsedCursor } from "./cached-list.js";
import { type RolloutName, rolloutsIn } from "./layout-files.js";
import { type LineObject, readLineBytes, withoutMark, rawLines } from "../file/lines.js";
import { userText } from "./user-text.js";

export interface ListRolloutsOptions {
  /** From 1 to 1,000; 25 by default. */
  readonly pageSize?: number;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface RolloutItem {
  readonly id: string;
  /** Absolute path. */
  readonly path: string;
  /** Up to ten objects from the top of the file. */
  readonly head: readonly Readonly<Record<string, unknown>>[];
}

export interface RolloutPage {
  readonly items: readonly RolloutItem[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

const maxHeadLines = 10;
/** Size limit of the head, because instructions and images may be large. */
const maxHeadBytes = 1024 * 1024;
const defaultPageSize = 25;
const maxPageSize = 1_000;
const order = "born";

/**
 * Lists the rollouts with a user message in a home of cody or Codex, newest first, in pages. The order is that of
 * their creation, which their names contain and which never changes. Therefore no rollout is skipped or repeated if
 * others are created, continued or deleted between two pages.
 */
export async function listRollouts(
  home: string,
  { pageSize = defaultPageSize, cursor }: ListRolloutsOptions = {},
): Promise<RolloutPage> {
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > maxPageSize) {
    throw new InvalidInputError(`pageSize: expected a whole number from 1 to ${maxPageSize}`);
  }
  const after = cursor === undefined ? undefined : placeOf(cursor);
  const items: RolloutItem[] = [];
  for (const rollout of (await createdIn(resolve(home))).toSorted(newestFirst)) {
    if (after !== undefined && newestFirst(after, rollout) >= 0) continue;
    const item = await itemOf(rollout);
    if (item === undefined) continue;
    const last = items.at(-1);
    // One item more than fits shows that there is another page.
    if (items.length === pageSize && last !== undefined) return { items, nextCursor: cursorAfter(last) };
    items.push(item);
  }
  return { items };
}

interface Place {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly bornAt: number;
}

/** Cody's home has `conversations`, Codex's has `sessions`. */
async function createdIn(home: string): Promise<(RolloutName & Place)[]> {
  const found = new Map<string, RolloutName>();
  for (const folder of ["conversations", "sessions"]) {
    for (const rollout of await rolloutsIn(join(home, folder))) {
      if (!found.has(rollout.id)) found.set(rollout.id, rollout);
    }
  }
  return Array.from(found.values(), (rollout) => ({ ...rollout, bornAt: createdAtMs(rollout) }));
}

/** Returns the creation time; 0 for ids without a time, which come last. */
function createdAtMs({ id, path }: RolloutName): number {
  const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(bareId(id));
  if (uuid !== null) return Number.parseInt(`${uuid[1]}${uuid[2]}`, 16);
  // Ids of older Codex contain no time, but the file names do, in local time.
  const named = /^rollout-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d)-/.exec(basename(path));
  const time = named === null ? Number.NaN : Date.parse(`${named[1]}${named[2]}:${named[3]}:${named[4]}`);
  return Number.isNaN(time) ? 0 : time;
}

function newestFirst(a: Place, b: Place): number {
  return b.bornAt - a.bornAt || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1);
}

function cursorAfter({ id, path }: RolloutItem): string {
  return cursorText({ order, key: createdAtMs({ id, path }), id });
}

function placeOf(cursor: string): Place {
  const parsed = parsedCursor(cursor);
  if (parsed?.order !== order || typeof parsed.key !== "number") {
    throw new InvalidInputError("cursor: expected the nextCursor of an earlier page");
  }
  return { bornAt: parsed.key, id: parsed.id };
}

/** Returns undefined for a file without metadata or user message, or one that cannot be read. */
async function itemOf({ id, path }: RolloutName): Promise<RolloutItem | undefined> {
  const head: LineObject[] = [];
  let bytes = 0;
  let hasUserText = false;
  try {
    for await (const raw of rawLines(path, id)) {
      if (raw.status === "too_long") break;
      bytes += raw.bytes.length;
      const isHead = head.length < maxHeadLines && (bytes <= maxHeadBytes || head.length === 0);
      // After the head only lines that may be user messages are parsed.
      if (!isHead && !raw.bytes.includes('"user')) continue;
      const read = readLineBytes(head.length === 0 ? withoutMark(raw.bytes) : raw.bytes);
      if (read.status !== "object") continue;
      if (isHead) head.push(read.value);
      hasUserText ||= userText(read.value) !== undefined;
      if (hasUserText && !isHead) break;
    }
  } catch {
    return undefined;
  }
  const hasMeta = head.some(({ type }) => type === "session_meta");
  return hasMeta && hasUserText ? { id, path, head } : undefined;
}
