import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { CorruptedRolloutError } from "../../base/errors.js";
import { isRecord } from "../../base/is-record.js";
import { shownId } from "../../base/text/conversation-id.js";
import type { ContentPart, ResponseItem } from "../../messages/response-item.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { checkLine } from "../file/check-line.js";
import { encodeLine, sessionMetaLine } from "../file/encode.js";
import { findEarlierParts, type RolloutPart } from "../file/earlier-parts.js";
import { type LineObject, readLineBytes, withoutMark, openRollout, rawLines } from "../file/lines.js";
import { parsedTime } from "../formats/lines/detect-format.js";
import type { ConvertedLines } from "../formats/lines/converted-items.js";
import { ForeignLineReader } from "../formats/lines/foreign-line-reader.js";
import { TurnGrouping } from "../turns.js";
import { allLines, type FileLine, judgeLine, type LineVerdict } from "./repair-lines.js";

export interface RolloutLocation {
  readonly path: string;
  readonly conversationId: string;
}

/** A line that the reader rejects. */
interface DamagedLine {
  readonly number: number;
  readonly bytes: number;
  /** Never quotes the file. */
  readonly reason: string;
  /** Number of complete lines found inside the damaged one, which are kept. */
  readonly rescued: number;
}

/** The problems of a rollout, and its content after a repair. */
export interface RolloutScan {
  /** Number of all lines, including blank and damaged ones. */
  readonly lines: number;
  readonly damaged: { readonly count: number; readonly rescued: number; readonly listed: readonly DamagedLine[] };
  /** The remains of a last line torn by a crash, if nothing in it can be rescued; also counted as damaged. */
  readonly torn: DamagedLine | undefined;
  /** Whether the last line is complete except for its newline. */
  readonly unterminated: boolean;
  /** The encoded first line to add, for a rollout without one. */
  readonly firstLine: string | undefined;
  /** Whether the lines are numbered: then other rollouts may begin with this one's first bytes, so no byte may move. */
  readonly inPlace: boolean;
  readonly history: HistorySize;
  /** Number of skipped lines of unknown type or shape. */
  readonly unknown: number;
  /** Reason why the parts from other rollouts cannot be read; repairing this file does not help. */
  readonly beginning: string | undefined;
}

/** Maximum number of damaged lines listed; further ones are only counted. */
const maxListed = 1000;

export function needsRepair({ damaged, unterminated, firstLine: made }: RolloutScan): boolean {
  return damaged.count > 0 || unterminated || made !== undefined;
}

/** Scans every line of a rollout, however damaged, without changing it. Memory use does not grow with the file. */
export async function scanRollout(place: RolloutLocation, signal?: AbortSignal): Promise<RolloutScan> {
  const file = await openRollout(place.path, place.conversationId);
  try {
    return await scanFile(file, place, signal);
  } finally {
    await file.close();
  }
}

export async function scanFile(file: FileHandle, place: RolloutLocation, signal?: AbortSignal): Promise<RolloutScan> {
  const scan = new Scan(place);
  for await (const line of allLines(file)) {
    signal?.throwIfAborted();
    await scan.add(line, judgeLine(line));
  }
  return scan.result(await file.stat());
}

class Scan {
  readonly #place: RolloutLocation;
  readonly #history = new HistoryCounter();
  readonly #forms: ForeignLineReader;
  readonly #listed: DamagedLine[] = [];
  #lines = 0;
  #damaged = 0;
  #rescued = 0;
  #readable = 0;
  #unknown = 0;
  #torn: DamagedLine | undefined;
  #unterminated = false;
  #inPlace = false;
  /** State of the first metadata line: none yet, the conversation's own, or one that cannot be used. */
  #meta: "none" | "own" | "useless" = "none";
  #beginning: string | undefined;
  #timestamp: number | undefined;
  #context: Readonly<Record<string, unknown>> | undefined;

  constructor(place: RolloutLocation) {
    this.#place = place;
    this.#forms = new ForeignLineReader(place.conversationId);
  }

  async add(line: FileLine, verdict: LineVerdict): Promise<void> {
    this.#lines = line.number;
    if (verdict.status === "good") {
      this.#unterminated = !line.terminated;
      if (verdict.value !== undefined) await this.#addValue(verdict.value);
      return;
    }
    const { reason, rescued } = verdict;
    this.#damaged += 1;
    this.#rescued += rescued.length;
    const found = { number: line.number, bytes: line.length, reason, rescued: rescued.length };
    if (this.#listed.length < maxListed) this.#listed.push(found);
    if (!line.terminated && rescued.length === 0) this.#torn = found;
    for (const { value } of rescued) await this.#addValue(value);
  }

  result({ mtimeMs }: { readonly mtimeMs: number }): RolloutScan {
    // A file without any content is not missing a first line.
    const isMissing = this.#meta !== "own" && this.#readable + this.#damaged > 0;
    return {
      lines: this.#lines,
      damaged: { count: this.#damaged, rescued: this.#rescued, listed: this.#listed },
      torn: this.#torn,
      unterminated: this.#unterminated,
      firstLine: isMissing ? this.#newFirstLine(mtimeMs) : undefined,
      inPlace: this.#inPlace,
      history: this.#history.size,
      unknown: this.#unknown,
      beginning: this.#beginning,
    };
  }

  async #addValue(value: LineObject): Promise<void> {
    this.#readable += 1;
    const time = parsedTime(value["timestamp"]);
    if (!Number.isNaN(time)) this.#timestamp ??= time;
    const payload = isRecord(value["payload"]) ? value["payload"] : undefined;
    if (value.type === "turn_context") this.#context ??= payload;
    if (typeof value["ordinal"] === "number") this.#inPlace = true;
    const foreign = this.#forms.linesOf(value);
    if (foreign !== undefined) return this.#addForeign(foreign);
    const { line, isUnderstood } = checkLine(value);
    if (!isUnderstood) this.#unknown += 1;
    if (line !== undefined) this.#history.add(line);
    if (this.#meta !== "none" || value.type !== "session_meta") return;
    this.#meta = this.#isOwn(payload) ? "own" : "useless";
    if (this.#meta === "own") await this.#addBeginning(value);
  }

  #addForeign({ lines, whole }: ConvertedLines): void {
    if (!whole) this.#unknown += 1;
    for (const line of lines) this.#history.add(line);
    // A file in a foreign format has no Codex first line and does not need one.
    if (this.#meta === "none") this.#meta = "own";
  }

  /**
   * A copy made by Codex has its parent's metadata line after its own; if its own is lost, the parent's must not
   * replace it.
   */
  #isOwn(payload: Readonly<Record<string, unknown>> | undefined): boolean {
    const id = payload?.["id"];
    if (typeof id !== "string") return false;
    return this.#damaged === 0 || shownId(id) === shownId(this.#place.conversationId);
  }

  async #addBeginning(meta: LineObject): Promise<void> {
    try {
      for (const part of await findEarlierParts(meta, { ...this.#place, line: this.#lines })) await this.#addPart(part);
    } catch (error) {
      if (!(error instanceof CorruptedRolloutError)) throw error;
      this.#beginning = error.detail;
    }
  }

  async #addPart({ path, bytes }: RolloutPart): Promise<void> {
    const { conversationId } = this.#place;
    let number = 0;
    for await (const raw of rawLines(path, conversationId, bytes)) {
      number += 1;
      const read = raw.status === "line" ? readLineBytes(number === 1 ? withoutMark(raw.bytes) : raw.bytes) : tooLong;
      if (read.status === "bad") {
        const detail = `its history starts in ${basename(path)}: line ${number}: ${read.detail}`;
        throw new CorruptedRolloutError(conversationId, this.#lines, detail);
      }
      if (read.status === "blank" || read.value.type === "session_meta") continue;
      const { line } = checkLine(read.value);
      if (line !== undefined) this.#history.add(line);
    }
  }

  #newFirstLine(mtimeMs: number): string {
    const textOr = (key: string, fallback: string): string => {
      const value = this.#context?.[key];
      return typeof value === "string" && value !== "" ? value : fallback;
    };
    return encodeLine(
      sessionMetaLine({
        conversationId: this.#place.conversationId,
        now: new Date(this.#timestamp ?? mtimeMs),
        // A placeholder, which resume treats as an unknown folder.
        cwd: textOr("cwd", "/"),
        provider: textOr("provider", "unknown"),
        model: textOr("model", "unknown"),
        source: "non_interactive",
      }),
    );
  }
}

const tooLong = { status: "bad", detail: "the line is too long" } as const;

interface HistorySize {
  readonly turns: number;
  readonly items: number;
}

/** Counts the items of a history without holding them: keeps only the fields that the fold examines. */
class HistoryCounter {
  readonly #turns = new TurnGrouping();

  add(line: OwnLine): void {
    this.#turns.add(thinLine(line));
  }

  get size(): HistorySize {
    const { turns } = this.#turns;
    return { turns: turns.length, items: turns.reduce((sum, turn) => sum + turn.items.length, 0) };
  }
}

function thinLine(line: OwnLine): OwnLine {
  if (line.type === "response_item") return { ...line, payload: reduced(line.payload) };
  if (line.type === "compacted" && line.payload.replacement_history) {
    return { ...line, payload: { message: "", replacement_history: line.payload.replacement_history.map(reduced) } };
  }
  if (line.type === "cody" && line.payload.type === "history_replaced") {
    return { ...line, payload: { type: "history_replaced", items: line.payload.items.map(reduced) } };
  }
  return line;
}

/**
 * Keeps the user's text, which decides what outlives a compaction and where turns begin; of other items only the
 * type.
 */
function reduced(item: ResponseItem): ResponseItem {
  if (item.type !== "message") return { type: item.type } as ResponseItem;
  const { type, role, content, summary } = item;
  const flag = summary === true ? { summary } : {};
  return { type, role, content: role === "user" ? content.map(withoutImage) : [], ...flag };
}

function withoutImage(part: ContentPart): ContentPart {
  return "text" in part ? part : { type: "input_image", image_url: "" };
}

/** A finding about a rollout for the user; it never quotes the file. */
export type RolloutFinding = RolloutFact & { readonly id: string; readonly path: string };

type RolloutFact =
  | { readonly kind: "damaged"; readonly line: number; readonly reason: string; readonly damagedLines: number }
  /** The rollouts with which it begins cannot be read. */
  | { readonly kind: "beginning_missing"; readonly reason: string }
  | { readonly kind: "first_line_missing" }
  | { readonly kind: "torn"; readonly bytes: number }
  | { readonly kind: "newline_missing" };

interface CheckOptions {
  readonly signal: AbortSignal;
  /** Called only when the end of the file looks as if it is being written. */
  readonly isInUse: () => Promise<boolean>;
}

/** Reads a rollout to its end and returns its problems; rejects when it cannot be read. */
export async function checkRollout(place: RolloutLocation, options: CheckOptions): Promise<RolloutFinding[]> {
  const { conversationId: id, path } = place;
  const facts = await factsOf(place, options);
  return facts.map((fact) => ({ ...fact, id, path }));
}

async function factsOf(place: RolloutLocation, { signal, isInUse }: CheckOptions): Promise<RolloutFact[]> {
  const scan = await scanRollout(place, signal);
  const facts: RolloutFact[] = [];
  if (scan.beginning !== undefined) facts.push({ kind: "beginning_missing", reason: scan.beginning });
  if (!needsRepair(scan)) return facts;
  const { torn, damaged } = scan;
  const damagedLines = damaged.count - (torn === undefined ? 0 : 1);
  const [first] = damaged.listed;
  if (damagedLines > 0 && first !== undefined) {
    facts.push({ kind: "damaged", line: first.number, reason: first.reason, damagedLines });
  } else if (torn === undefined && scan.firstLine !== undefined) {
    facts.push({ kind: "first_line_missing" });
  }
  const isEndOpen = torn !== undefined || scan.unterminated;
  if (!isEndOpen || (await isInUse())) return facts;
  return [...facts, torn === undefined ? { kind: "newline_missing" } : { kind: "torn", bytes: torn.bytes }];
}
