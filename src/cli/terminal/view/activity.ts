import { counted } from "../../../base/text/counted.js";
import { cellWidth } from "../screen/cells.js";
import { cleanLine, elapsedText, fitText } from "./rows.js";
import type { View } from "./view.js";

export interface Activity {
  /** For example `Thinking` or `Waiting for the model`. */
  readonly label: string;
  readonly elapsedMs: number;
  /** Counts up every `frameMs`. */
  readonly frame: number;
  /** The key that stops it, for example `esc to interrupt`. */
  readonly hint?: string | undefined;
}

/** How long a spinner shows one frame. */
export const frameMs = 100;

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** A shorter wait has no number. */
const leastElapsedMs = 1_000;
const maxQueuedLines = 5;

/** The line that says what cody is waiting for. */
export function activityLine({ label, elapsedMs, frame, hint }: Activity, view: View): string {
  const facts = [...elapsedFacts(elapsedMs), ...(hint === undefined ? [] : [cleanLine(hint)])];
  return spinnerLine(label, facts, frame, view);
}

export interface RunningTool {
  /** The call on one line, as `callLine` or `commandLine` returns it. */
  readonly title: string;
  /** The last lines of its output so far. */
  readonly tail: readonly string[];
  readonly elapsedMs: number;
  readonly frame: number;
}

/** A tool call while it runs: its title, and as much of the end of its output as fits. */
export function toolLiveLines({ title, tail, elapsedMs, frame }: RunningTool, view: View, maxRows: number): string[] {
  if (maxRows < 1) return [];
  const { columns, theme } = view;
  const rows = maxRows === 1 ? [] : tail.slice(-(maxRows - 1));
  const lines = rows.map((line) => theme.dim(fitText(`  │ ${cleanLine(line)}`.trimEnd(), columns)));
  return [spinnerLine(title, elapsedFacts(elapsedMs), frame, view), ...lines];
}

export interface QueuedInput {
  readonly text: string;
  /** `steer`: the model gets it in this turn. `queue`: it starts the next turn. */
  readonly kind: "steer" | "queue";
}

/** The inputs that wait: one line each, and how many more there are. */
export function queuedLines(inputs: readonly QueuedInput[], { columns, theme }: View): string[] {
  const shown = inputs.length > maxQueuedLines ? inputs.slice(0, maxQueuedLines - 1) : inputs;
  const lines = shown.map(({ text, kind }) => {
    const label = kind === "steer" ? "sending" : "queued ";
    const rest = columns - cellWidth(label) - 4;
    return `  ${theme.accent(label)}  ${theme.dim(fitText(cleanLine(text.trim().replaceAll(/\s*\n\s*/g, " ⏎ ")), rest))}`;
  });
  const left = inputs.length - shown.length;
  return left === 0 ? lines : [...lines, theme.dim(fitText(`  … ${counted(left, "more input")}`, columns))];
}

/** In whole seconds: a number that changes with every frame is restless. */
function elapsedFacts(elapsedMs: number): string[] {
  return elapsedMs < leastElapsedMs ? [] : [elapsedText(Math.floor(elapsedMs / 1_000) * 1_000)];
}

/** The text is cut rather than the facts, as long as there is room for some of it. */
function spinnerLine(text: string, facts: readonly string[], frame: number, { columns, theme }: View): string {
  const room = columns - 2;
  const suffix = facts.map((fact) => ` · ${fact}`).join("");
  const line = fitText(cleanLine(text), Math.max(Math.min(room, 12), room - cellWidth(suffix)));
  const rest = fitText(suffix, room - cellWidth(line));
  return `${theme.accent(frames[frame % frames.length] ?? "")} ${line}${theme.dim(rest)}`;
}
