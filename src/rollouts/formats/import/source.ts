import { realpath, stat } from "node:fs/promises";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { ImportError } from "../../../base/errors.js";
import { bareId } from "../../../base/text/conversation-id.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { type LineObject, readLineBytes, withoutMark, rawBatches } from "../../file/lines.js";

/** Maximum number of damaged lines that are recorded; further ones are only counted. */
const maxDamagedKept = 100;

/** The import formats. Loads no schema library, because the command line lists them. */
export const importFormats = ["codex", "turns", "envoy", "diligent", "json", "claude-code", "pi"] as const;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Larger files are rejected, because even an index of their entries would not fit in memory. */
const maxSourceBytes = 8 * 1024 ** 3;

/** The provider and model of an answer, as named by the source. */
export interface AnsweredBy {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/** Facts about the conversation as a whole; each may be missing. */
export interface SourceFacts extends AnsweredBy {
  readonly id?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly cwd?: string | undefined;
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  readonly repositoryUrl?: string | undefined;
}

/** One record of a source, in conversation order. */
export type SourceRecord =
  | { readonly type: "item"; readonly timestamp: string; readonly item: ResponseItem; readonly by?: AnsweredBy }
  /** From here on the model saw only these items. */
  | {
      readonly type: "replaced";
      readonly timestamp: string;
      readonly summary: string;
      readonly items: readonly ResponseItem[];
    }
  /** The provider and model from here on. */
  | { readonly type: "played_by"; readonly by: AnsweredBy }
  | { readonly type: "named"; readonly name: string }
  /** A line of Codex, imported unchanged. */
  | { readonly type: "line"; readonly line: OwnLine };

/** A regular file with its length when it was first opened, because other processes may still be writing to it. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: number;
}

/** A conversation in the format of another program, or in an old format of cody. */
export interface Source {
  readonly file: SourceFile;
  readonly format: ImportFormat;
  readonly facts: SourceFacts;
  /** Complete when all records have been read. */
  readonly losses: Losses;
  /** Can be read once. Holds only the items in memory that must be held back. */
  readonly records: AsyncIterable<SourceRecord>;
}

/** A format's reader: surveys the file, then returns its facts and records. */
export type ReadSource = (file: SourceFile, losses: Losses) => Promise<Pick<Source, "facts" | "records">>;

export interface NumberedObject {
  /** Starts at 1. */
  readonly number: number;
  readonly value: LineObject;
}

/** Resolves a path given by the user; links to files are followed, and anything but a regular file is rejected. */
export async function sourceFile(named: string): Promise<SourceFile> {
  const path = await realpath(named).catch(() => undefined);
  const stats = path === undefined ? undefined : await stat(path).catch(() => undefined);
  if (path === undefined || stats === undefined) throw new ImportError(named, "file not found");
  if (!stats.isFile()) throw new ImportError(named, "it is not a regular file");
  if (stats.size === 0) throw new ImportError(named, "it is empty");
  if (stats.size > maxSourceBytes) {
    throw new ImportError(named, `it is larger than ${maxSourceBytes / 1024 ** 3} GiB`);
  }
  return { path, bytes: stats.size };
}

/** Yields the readable lines and records the others in `losses`. */
export async function* sourceLines({ path, bytes }: SourceFile, losses?: Losses): AsyncGenerator<NumberedObject> {
  let number = 0;
  for await (const batch of rawBatches(path, path, { upTo: bytes })) {
    for (const raw of batch) {
      number += 1;
      if (raw.status === "too_long") {
        losses?.damagedLine(number, "the line is too long; the rest of the file was not read");
        return;
      }
      const read = readLineBytes(number === 1 ? withoutMark(raw.bytes) : raw.bytes);
      if (read.status === "object") yield { number, value: read.value };
      else if (read.status === "bad") losses?.damagedLine(number, raw.terminated ? read.detail : "cut off");
    }
  }
}

/** A key for a conversation in its source, and candidate ids here, of which the first free one is used. */
export interface SourceId {
  readonly key: string;
  /** The UUID in the source, if there is one. */
  readonly own?: string;
  readonly candidates: readonly string[];
}

/** Deterministic for the same source, so that a repeated import is recognized. */
export async function sourceId(source: Source): Promise<SourceId> {
  const own = bareId(source.facts.id?.toLowerCase() ?? "");
  const isUnique = uuid.test(own);
  const key = isUnique ? own : await digestOf(source);
  const derived = uuidOf(`cody import\0${source.format}\0${key}`);
  return isUnique ? { key, own, candidates: [own, derived] } : { key, candidates: [derived] };
}

/**
 * Hashes the source's own id with its creation time: ids that are not UUIDs may repeat, but not at the same time, and
 * the result stays the same when the source grows. Without both, hashes the whole content, because two sources may
 * begin alike.
 */
async function digestOf({ file: { path, bytes }, facts: { id, createdAt } }: Source): Promise<string> {
  const hash = createHash("sha256");
  if (id !== undefined && createdAt !== undefined) return hash.update(`${id}\0${createdAt}`).digest("hex");
  for await (const chunk of createReadStream(path, { end: bytes - 1 })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Builds a version 8 UUID from a hash. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join("-");
}

export type ImportFormat = (typeof importFormats)[number];

export function isImportFormat(text: string): text is ImportFormat {
  return importFormats.some((format) => format === text);
}

/**
 * Kinds of source content that an imported conversation lacks. Each is counted in its own unit: messages, parts of
 * messages, entries or lines.
 */
export type LossKind =
  | "abandoned_entries"
  | "attachments"
  | "documents"
  | "duplicates"
  | "error_marks"
  | "errors"
  | "excluded"
  | "extension_data"
  | "file_snapshots"
  | "images"
  | "labels"
  | "local_commands"
  | "provider"
  | "server_tools"
  | "settings"
  | "sidechain_entries"
  | "signatures"
  | "stray_outputs"
  | "subagent_files"
  | "synthetic_messages"
  | "system_messages"
  | "system_notes"
  | "thoughts"
  | "too_long"
  | "tool_details"
  | "unanswered_calls"
  | "unfinished"
  | "unknown_lines"
  | "unknown_parts"
  | "usage";

/** An unreadable line; `detail` never quotes the file. */
export interface DamagedLine {
  readonly line: number;
  readonly detail: string;
}

/** The content that could not be imported. */
export interface LossReport {
  /** Number of occurrences by kind; a missing kind did not occur. */
  readonly counts: Readonly<Partial<Record<LossKind, number>>>;
  /** The first damaged lines; `damagedCount` counts all of them. */
  readonly damaged: readonly DamagedLine[];
  readonly damagedCount: number;
}

/** Counts losses while a source is read. */
export class Losses {
  readonly #counts = new Map<LossKind, number>();
  readonly #damaged: DamagedLine[] = [];
  #damagedCount = 0;

  count(kind: LossKind, times = 1): void {
    if (times > 0) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  damagedLine(line: number, detail: string): void {
    this.#damagedCount += 1;
    if (this.#damaged.length < maxDamagedKept) this.#damaged.push({ line, detail });
  }

  report(): LossReport {
    const counts = Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    return { counts, damaged: [...this.#damaged], damagedCount: this.#damagedCount };
  }
}
