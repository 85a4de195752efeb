import { isRecord } from "../../../base/is-record.js";
import type { CodyPayload, OwnLine } from "../../../messages/rollout-line.js";
import { type LineObject, readLineBytes, withoutMark, rawBatches } from "../../../rollouts/file/lines.js";
import { detectLineFormat } from "../../../rollouts/formats/lines/detect-format.js";
import type { CondensedRollout, RolloutSegment } from "../../../workers/cpu-pool.js";

const eventUses: Uses<Extract<OwnLine, { type: "event_msg" }>["payload"]["type"]> = {
  task_started: "kept",
  task_complete: "kept",
  turn_aborted: "kept",
  token_count: (payload) => (isRecord(payload) && isRecord(payload["info"]) ? "usage" : "passing"),
  thread_rolled_back: "passing",
  // One that records a submission is needed to recognize it.
  user_message: (payload) => (isRecord(payload) && "submission_id" in payload ? "kept" : "passing"),
  agent_message: "passing",
  agent_reasoning: "passing",
  web_search_end: "passing",
  undo_completed: "passing",
  entered_review_mode: "passing",
  exited_review_mode: "passing",
  context_compacted: "passing",
  "(unknown)": "passing",
};

const recordUses: Uses<CodyPayload["type"]> = {
  history_replaced: "replaces",
  approval_requested: "kept",
  approval_decided: "kept",
  approval_answered: "kept",
  named: "kept",
  imported: "passing",
  blob: "passing",
  pinned: "kept",
};

const lineUses: Uses<OwnLine["type"]> = {
  session_meta: "kept",
  turn_context: "context",
  response_item: "passing",
  // A compaction without a new history builds it from the old one.
  compacted: (payload) => (isRecord(payload) && Array.isArray(payload["replacement_history"]) ? "replaces" : "passing"),
  event_msg: (payload) => useIn(eventUses, isRecord(payload) ? payload["type"] : undefined, payload),
  cody: (payload) => useIn(recordUses, isRecord(payload) ? payload["type"] : undefined, payload),
};

const shownItems: ReadonlySet<unknown> = new Set(["message", "reasoning", "web_search_call"]);

/** About as much as the main thread processes in a millisecond. */
const pieceBytes = 64 * 1024;

/**
 * Reads and parses a segment of a rollout and returns its relevant lines, unvalidated. It loads no schema library,
 * which would take a thread longer than parsing some megabytes.
 */
export async function condenseRollout(segment: RolloutSegment): Promise<CondensedRollout<LineObject[]>> {
  const { path, conversationId, range, beginning, replaced: replacedBehind, shows } = segment;
  const remaining: SizedLine[] = [];
  let [lines, bytes] = [0, 0];
  for await (const batch of rawBatches(path, conversationId, { range, upTo: beginning })) {
    for (const raw of batch) {
      lines += 1;
      if (raw.status === "too_long") return { status: "corrupted", line: lines, detail: "the line is too long" };
      const read = readLineBytes(range.from === 0 && lines === 1 ? withoutMark(raw.bytes) : raw.bytes);
      if (read.status === "bad") {
        // An unterminated line at the end was torn by a crash; but the part that another rollout begins with must be
        // whole.
        if (!raw.terminated && beginning === undefined) continue;
        return { status: "corrupted", line: lines, detail: read.detail };
      }
      bytes += raw.bytes.length + (raw.terminated ? 1 : 0);
      if (read.status === "blank") continue;
      if (detectLineFormat(read.value) !== undefined) return { status: "other_form" };
      // Only the conversation's own first line counts.
      if (beginning !== undefined && read.value.type === "session_meta") continue;
      // Nearly all lines are dropped here; keeping them would only fill the memory until the end of the segment.
      if (replacedBehind && isDroppedByReplacement(read.value) && !(shows && isShownLine(read.value))) continue;
      remaining.push({ value: read.value, bytes: raw.bytes.length });
    }
  }
  const { lines: left, shown, replaced } = condenseLines(remaining, replacedBehind);
  return {
    status: "read",
    shown: splitIntoPieces(shows ? shown : []),
    pieces: splitIntoPieces(left),
    lines,
    bytes,
    replaced,
  };
}

function splitIntoPieces(lines: readonly SizedLine[]): LineObject[][] {
  const pieces: LineObject[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const { value, bytes } of lines) {
    if (size + bytes > pieceBytes) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)?.push(value);
    size += bytes;
  }
  return pieces;
}

export interface SizedLine {
  readonly value: LineObject;
  readonly bytes: number;
}

export interface Condensed {
  readonly lines: readonly SizedLine[];
  /** Lines that the transcript needs and the history no longer does. */
  readonly shown: readonly SizedLine[];
  /** Whether lines were left out. */
  readonly replaced: boolean;
}

/**
 * Keeps only the relevant lines of a segment: `apply` produces the same result from them as from all, provided the
 * lines are valid. `replacedBehind`: the history is replaced as a whole after the segment.
 */
export function condenseLines(lines: readonly SizedLine[], replacedBehind: boolean): Condensed {
  const newestFirst: SizedLine[] = [];
  const displayed: SizedLine[] = [];
  const newer = new Set<LineUse>();
  let replaced = replacedBehind;
  for (const line of lines.toReversed()) {
    const use = lineUse(line.value);
    const isOutdone = isDroppedByReplacement(line.value) || (use !== "kept" && newer.has(use));
    // All lines after the replacement are kept, because the validator counts the ones it does not understand.
    if (!replaced || !isOutdone) newestFirst.push(line);
    else if (isShownLine(line.value)) displayed.push(line);
    newer.add(use);
    if (use === "replaces") replaced = true;
  }
  return { lines: newestFirst.toReversed(), shown: displayed.toReversed(), replaced };
}

/**
 * How long a line has an effect, if it is valid. `kept`: for ever. `context`, `usage`: until there is a newer one.
 * `passing`: until the history is replaced as a whole, if it has any effect at all. `replaces`: replaces the history.
 */
type LineUse = "kept" | "context" | "usage" | "passing" | "replaces";

type Payload = LineObject["payload"];

type Uses<Type extends string> = Readonly<Record<Type, LineUse | ((payload: Payload) => LineUse)>>;

/** Judged by its type only: validating it would take as long as parsing it. */
function lineUse({ type, payload }: LineObject): LineUse {
  return useIn(lineUses, type, payload);
}

/** Whether the line has no effect once the history is replaced as a whole. */
function isDroppedByReplacement(value: LineObject): boolean {
  const use = lineUse(value);
  return use === "passing" || use === "replaces";
}

/** Whether the line makes some earlier lines obsolete. */
export function replacesEarlierLines(value: LineObject): boolean {
  const use = lineUse(value);
  return use === "context" || use === "usage" || use === "replaces";
}

/** Whether the line may change the transcript; it is not validated. */
function isShownLine({ type, payload }: LineObject): boolean {
  if (!isRecord(payload)) return false;
  if (type === "response_item") return shownItems.has(payload["type"]);
  if (type === "event_msg") return payload["type"] === "thread_rolled_back";
  return type === "compacted" || (type === "cody" && payload["type"] === "history_replaced");
}

function useIn(uses: Uses<string>, type: unknown, payload: Payload): LineUse {
  const use = typeof type === "string" && Object.hasOwn(uses, type) ? uses[type] : undefined;
  return typeof use === "function" ? use(payload) : (use ?? "passing");
}
