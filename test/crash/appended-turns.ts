import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { messageText } from "../../src/messages/response-item.js";
import type { RolloutTurn } from "../../src/rollouts/turns.js";
import { answerTo } from "./question.js";

/** The turn a recorder appends for a question; all of its content is derived from the question. */
export function turnOf(question: string): RolloutTurn {
  return {
    timestamp: Date.now(),
    items: [
      { type: "message", role: "user", content: [{ type: "input_text", text: question }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: answerTo(question) }] },
    ],
  };
}

/** The turns in a rollout that a recorder has written. */
export interface AppendedTurns {
  /** The questions of the complete turns, in file order. */
  readonly questions: string[];
  readonly tornBytes: number;
}

interface Line {
  readonly type: string;
  readonly payload: { readonly type?: unknown; readonly role?: unknown; readonly [key: string]: unknown };
}

const newline = 0x0a;
const kindsOfTurn = ["task_started", "user", "user_message", "assistant", "agent_message", "task_complete"];

/**
 * Reads a rollout more strictly than the product: every line is JSON, no turn is there twice, every answer matches its
 * question, and only the death of a process leaves a turn incomplete.
 */
export async function readAppended(path: string): Promise<AppendedTurns | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  // The process was killed before it created the file.
  if (bytes === undefined) return undefined;
  const whole = bytes.lastIndexOf(newline) + 1;
  const lines = bytes.toString("utf8", 0, whole).split("\n").slice(0, -1);
  const turns = turnsOf(lines.map((line) => JSON.parse(line) as Line));
  const questions = turns.flatMap(({ question, isWhole }) => (isWhole ? [question] : []));
  assert.equal(new Set(questions).size, questions.length, "a turn is doubled");
  for (const [index, { isWhole }] of turns.entries()) {
    if (isWhole) continue;
    const [before, behind] = [turns[index - 1], turns[index + 1]].map((turn) => roundOf(turn?.question ?? ""));
    assert(before === "" || before !== behind, "a turn is cut although its process went on");
  }
  return { questions, tornBytes: bytes.length - whole };
}

/** The questions of the turns a recorder read. */
export function questionsOf(turns: readonly RolloutTurn[]): string[] {
  return turns.flatMap(({ items: [user, assistant] }) => {
    const [question, answer] = [user, assistant].map((item) => (item?.type === "message" ? messageText(item) : ""));
    return question !== undefined && answer === answerTo(question) ? [question] : [];
  });
}

interface Turn {
  readonly question: string;
  readonly isWhole: boolean;
}

function turnsOf(lines: readonly Line[]): Turn[] {
  const [first, ...rest] = lines;
  if (first !== undefined) assert.equal(first.type, "session_meta");
  const turns: Line[][] = [];
  for (const line of rest) {
    if (line.payload.type === "task_started") turns.push([]);
    assert(turns.length > 0, "a line stands outside of any turn");
    turns.at(-1)?.push(line);
  }
  return turns.map(turnFrom);
}

function turnFrom(lines: readonly Line[]): Turn {
  const kinds = lines.map(({ payload }) => payload.role ?? payload.type);
  assert.deepEqual(kinds, kindsOfTurn.slice(0, kinds.length));
  const [question, answer] = [textOf(lines[1]), textOf(lines[3])];
  // Compared without a diff, which would be hundreds of kilobytes long.
  if (kinds.length > 3) assert(answer === answerTo(question), "an answer is not the one to its question");
  return { question, isWhole: kinds.length === kindsOfTurn.length };
}

function roundOf(question: string): string {
  return /round \d+/.exec(question)?.[0] ?? "";
}

function textOf(line: Line | undefined): string {
  const content = (line?.payload["content"] ?? []) as readonly { readonly text: string }[];
  return content.map(({ text }) => text).join("");
}
