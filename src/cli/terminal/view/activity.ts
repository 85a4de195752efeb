import { fitText, cleanLine } from "./rows.js";
import type { View } from "./view.js";

export interface Activity {
  /** What is being waited for: `Thinking`, `Waiting for the model`. */
  readonly label: string;
  readonly elapsedMs: number;
  /** Counts up with time, for the spinner. */
  readonly frame: number;
  /** The key that stops it, for example `esc to interrupt`. */
  readonly hint?: string | undefined;
}

/** How long a spinner shows one frame. */
export const frameMs = 100;

/** The line that says what cody is waiting for. */
export function activityLine({ label }: Activity, view: View): string {
  return fitText(cleanLine(label), view.columns);
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
export function toolLiveLines({ title, tail }: RunningTool, view: View, maxRows: number): string[] {
  return [title, ...tail.slice(-Math.max(0, maxRows - 1))].map((line) => fitText(cleanLine(line), view.columns));
}

export interface QueuedInput {
  readonly text: string;
  /** `steer`: the model gets it in this turn. `next`: it starts the next turn. */
  readonly kind: "steer" | "next";
}

/** The inputs that wait for their turn. */
export function queuedLines(inputs: readonly QueuedInput[], view: View): string[] {
  return inputs.map(({ text }) => fitText(cleanLine(text), view.columns));
}
