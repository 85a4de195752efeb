import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { answerTo } from "./question.js";
import type { Report } from "./report.js";

interface Line {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A turn in a rollout file. */
export interface TurnInFile {
  readonly id: unknown;
  readonly lines: Line[];
  /** The kind of each of its lines. */
  readonly kinds: string[];
}

export interface RolloutInFile {
  readonly turns: TurnInFile[];
  readonly bytes: number;
  readonly tornBytes: number;
}

const newline = 0x0a;

/** Reads a rollout more strictly than the product: every line is JSON, and turns do not overlap. */
export async function readStrictly(path: string): Promise<RolloutInFile> {
  const bytes = await readFile(path);
  const whole = bytes.lastIndexOf(newline) + 1;
  const text = bytes.toString("utf8", 0, whole);
  const lines = text.split("\n").slice(0, -1);
  const turns = turnsOf(lines.map((line) => JSON.parse(line) as Line));
  return { turns, bytes: bytes.length, tornBytes: bytes.length - whole };
}

/** A turn reported as saved is in the file once and complete. */
export function expectSaved({ turns }: RolloutInFile, report: Report): void {
  const found = turns.filter(({ id }) => id === report.turn);
  expect(found.length).toBe(1);
  const { kinds, lines } = withoutCompactions(found[0]);
  const completed = report.type === "task_complete";
  // An interrupt may come after the answer.
  const answered = completed || kinds.includes("assistant") ? ["assistant", "agent_message"] : [];
  const counted = completed || kinds.includes("token_count") ? ["token_count"] : [];
  const end = completed ? ["task_complete"] : ["user", "turn_aborted"];
  expect(kinds).toEqual([...beginning, ...answered, ...counted, ...end]);
  expect(textOf(lines[2])).toBe(report.question);
  // Compared without a diff, which would be hundreds of kilobytes long.
  if (answered.length > 0) expect(textOf(lines[4]) === answerTo(report.question ?? "")).toBe(true);
}

/** Long answers fill the window, so that histories are compacted before a request or after an answer. */
function withoutCompactions(turn: RolloutInFile["turns"][number] | undefined): { kinds: string[]; lines: Line[] } {
  const { kinds = [], lines = [] } = turn ?? {};
  const isOfCompaction = (index: number): boolean =>
    kinds[index] === "compacted" || kinds[index - 1] === "compacted" || kinds[index] === "context_compacted";
  return {
    kinds: kinds.filter((_, index) => !isOfCompaction(index)),
    lines: lines.filter((_, index) => !isOfCompaction(index)),
  };
}

export function isSaved(report: Report): boolean {
  return report.turn !== undefined && report.saved === true;
}

/** A conversation without a user message cannot be resumed normally. */
export function hasUserMessage({ turns }: RolloutInFile): boolean {
  return turns.some(({ kinds }) => kinds.includes("user"));
}

/** The question of a turn. */
export function questionOf(turn: TurnInFile): string {
  return textOf(turn.lines.find((line) => kindOf(line) === "user"));
}

const beginning = ["task_started", "turn_context", "user", "user_message"];
const ends = new Set(["task_complete", "turn_aborted"]);

function turnsOf(lines: readonly Line[]): TurnInFile[] {
  const turns: TurnInFile[] = [];
  let open: TurnInFile | undefined;
  for (const line of lines) {
    const kind = kindOf(line);
    if (kind === "session_meta") continue;
    if (kind === "task_started") {
      expect(open, "a turn begins within another one").toBeUndefined();
      open = { id: line.payload["turn_id"], lines: [], kinds: [] };
      turns.push(open);
    }
    expect(open, `${kind} stands outside of any turn`).toBeDefined();
    open?.lines.push(line);
    open?.kinds.push(kind);
    if (!ends.has(kind)) continue;
    expect(line.payload["turn_id"], "a turn is ended by another one's line").toBe(open?.id);
    open = undefined;
  }
  return turns;
}

function kindOf({ type, payload }: Line): string {
  if (type === "event_msg") return String(payload["type"]);
  return type === "response_item" ? String(payload["role"]) : type;
}

function textOf(line: Line | undefined): string {
  const content = (line?.payload["content"] ?? []) as readonly { readonly text: string }[];
  return content.map(({ text }) => text).join("");
}
