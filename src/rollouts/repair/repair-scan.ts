import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { isRecord } from "../../base/is-record.js";
import { shownId } from "../../messages/conversation-id.js";
import { CorruptedRolloutError } from "../../base/errors.js";
import type { ContentPart, ResponseItem } from "../../messages/response-item.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { checkLine } from "../file/check-line.js";
import { encodeLine } from "../file/encode.js";
import { partsBefore, type RolloutPart } from "../file/history-base.js";
import { type LineObject, readLineBytes, withoutMark } from "../file/line-object.js";
import { openRegularFile, rawLines } from "../file/raw-lines.js";
import { firstLine } from "../first-line.js";
import { parsedTime } from "../formats/lines/detect.js";
import type { FormLines } from "../formats/lines/form-lines.js";
import { FormReader } from "../formats/lines/form-reader.js";
import { TurnGrouping } from "../turns.js";
import { allLines, type FileLine } from "./repair-lines.js";
import { judged, type Verdict } from "./repair-verdict.js";

export interface RolloutPlace {
  readonly path: string;
  readonly conversationId: string;
}

/** A line the reader refuses. */
export interface DamagedLine {
  readonly number: number;
  readonly bytes: number;
  /** Never quotes the file. */
  readonly reason: string;
  /** How many whole lines stand in it, and stay. */
  readonly rescued: number;
}

/** What is wrong with a rollout, and what it would be without that. */
export interface RolloutScan {
  /** All of them, blank and damaged ones included. */
  readonly lines: number;
  readonly damaged: { readonly count: number; readonly rescued: number; readonly listed: readonly DamagedLine[] };
  /** What a crash left of the last line, when nothing in it can be saved: it is among the damaged ones. */
  readonly torn: DamagedLine | undefined;
  /** The last line is whole but for its newline. */
  readonly unterminated: boolean;
  /** Encoded, for a rollout that has none of its own. */
  readonly firstLine: string | undefined;
  /** Its lines have numbers, so other rollouts may begin with its first bytes, and nothing in it may move. */
  readonly inPlace: boolean;
  readonly history: HistorySize;
  /** Lines that are passed over: of an unknown type, or in an unknown shape. */
  readonly unknown: number;
  /** Why what it has from other rollouts cannot be read; mending this file does not help. */
  readonly beginning: string | undefined;
}

/** More damaged lines than these are counted, and not listed. */
const maxListed = 1000;

export function needsRepair({ damaged, unterminated, firstLine: made }: RolloutScan): boolean {
  return damaged.count > 0 || unterminated || made !== undefined;
}

/** Looks at every line of a rollout, however damaged, and changes nothing. Its memory does not grow with the file. */
export async function scanRollout(place: RolloutPlace, signal?: AbortSignal): Promise<RolloutScan> {
  const file = await openRegularFile(place.path, place.conversationId);
  try {
    return await scanFile(file, place, signal);
  } finally {
    await file.close();
  }
}

export async function scanFile(file: FileHandle, place: RolloutPlace, signal?: AbortSignal): Promise<RolloutScan> {
  const scan = new Scan(place);
  for await (const line of allLines(file)) {
    signal?.throwIfAborted();
    await scan.add(line, judged(line));
  }
  return scan.result(await file.stat());
}

class Scan {
  readonly #place: RolloutPlace;
  readonly #history = new HistoryCounter();
  readonly #forms: FormReader;
  readonly #listed: DamagedLine[] = [];
  #lines = 0;
  #damaged = 0;
  #rescued = 0;
  #readable = 0;
  #unknown = 0;
  #torn: DamagedLine | undefined;
  #unterminated = false;
  #inPlace = false;
  /** The first line that says what the conversation is: none yet, its own, or one that is of no use. */
  #meta: "none" | "own" | "useless" = "none";
  #beginning: string | undefined;
  #timestamp: number | undefined;
  #context: Readonly<Record<string, unknown>> | undefined;

  constructor(place: RolloutPlace) {
    this.#place = place;
    this.#forms = new FormReader(place.conversationId);
  }

  async add(line: FileLine, verdict: Verdict): Promise<void> {
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
    // In a file where nobody has ever written anything nothing is missing.
    const isMissing = this.#meta !== "own" && this.#readable + this.#damaged > 0;
    return {
      lines: this.#lines,
      damaged: { count: this.#damaged, rescued: this.#rescued, listed: this.#listed },
      torn: this.#torn,
      unterminated: this.#unterminated,
      firstLine: isMissing ? this.#madeLine(mtimeMs) : undefined,
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

  #addForeign({ lines, whole }: FormLines): void {
    if (!whole) this.#unknown += 1;
    for (const line of lines) this.#history.add(line);
    // Such a file has no first line of Codex's, and misses none.
    if (this.#meta === "none") this.#meta = "own";
  }

  /** A copy made by Codex has the line of its parent behind its own: when that is lost, the parent's is not it. */
  #isOwn(payload: Readonly<Record<string, unknown>> | undefined): boolean {
    const id = payload?.["id"];
    if (typeof id !== "string") return false;
    return this.#damaged === 0 || shownId(id) === shownId(this.#place.conversationId);
  }

  async #addBeginning(meta: LineObject): Promise<void> {
    try {
      for (const part of await partsBefore(meta, { ...this.#place, line: this.#lines })) await this.#addPart(part);
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
        const detail = `it begins in ${basename(path)}: line ${number}: ${read.detail}`;
        throw new CorruptedRolloutError(conversationId, this.#lines, detail);
      }
      if (read.status === "blank" || read.value.type === "session_meta") continue;
      const { line } = checkLine(read.value);
      if (line !== undefined) this.#history.add(line);
    }
  }

  #madeLine(mtimeMs: number): string {
    const said = (key: string, otherwise: string): string => {
      const value = this.#context?.[key];
      return typeof value === "string" && value !== "" ? value : otherwise;
    };
    return encodeLine(
      firstLine({
        conversationId: this.#place.conversationId,
        now: new Date(this.#timestamp ?? mtimeMs),
        // Nobody works there: resuming takes it as a folder that is not known.
        cwd: said("cwd", "/"),
        provider: said("provider", "unknown"),
        model: said("model", "unknown"),
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

/** Counts what a history would hold without holding it: of each item only what the fold looks at is kept. */
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
  if (line.type === "response_item") return { ...line, payload: thin(line.payload) };
  if (line.type === "compacted" && line.payload.replacement_history) {
    return { ...line, payload: { message: "", replacement_history: line.payload.replacement_history.map(thin) } };
  }
  if (line.type === "cody" && line.payload.type === "history_replaced") {
    return { ...line, payload: { type: "history_replaced", items: line.payload.items.map(thin) } };
  }
  return line;
}

/** What a person said decides what outlives a compaction, and where turns begin; of the rest only the kind counts. */
function thin(item: ResponseItem): ResponseItem {
  if (item.type !== "message") return { type: item.type } as ResponseItem;
  const { type, role, content, summary } = item;
  const flag = summary === true ? { summary } : {};
  return { type, role, content: role === "user" ? content.map(withoutImage) : [], ...flag };
}

function withoutImage(part: ContentPart): ContentPart {
  return "text" in part ? part : { type: "input_image", image_url: "" };
}
