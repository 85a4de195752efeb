import type { TurnDiff } from "../../../messages/tools/diff.js";
import type { EventMsg } from "../../../messages/event.js";
import type { FileChanges } from "../../../messages/tools/file-change.js";
import type { Plan } from "../../../messages/tools/plan.js";
import { cleanLines, wrapText } from "./rows.js";
import type { View } from "./view.js";

/** What a person has sent. */
export function userLines(text: string, view: View): string[] {
  return plain(text, view);
}

/** The folded reasoning of a model. */
export function reasoningLine({ elapsedMs }: { readonly elapsedMs: number }, view: View): string {
  return plain(`thought for ${Math.round(elapsedMs / 1000)} s`, view)[0] ?? "";
}

export interface ToolSummary {
  /** The call on one line, as `callLine` or `commandLine` returns it. */
  readonly title: string;
  readonly outcome: "done" | "failed" | "refused" | "interrupted";
  /** One line: `exit code 1`, the reason of a failure, or the first line of a result. */
  readonly detail?: string | undefined;
  readonly elapsedMs?: number | undefined;
  /** The number of lines of its output. */
  readonly outputLines?: number | undefined;
  /** The last lines of the output, shown under a failure. */
  readonly tail?: readonly string[] | undefined;
  /** The changes of a patch, shown as diffs. */
  readonly changes?: FileChanges | undefined;
  /** The folder to which the paths of changes are shown relative. */
  readonly cwd?: string | undefined;
}

/** A tool call that has ended: one line, with what failed or changed below it. */
export function toolSummaryLines({ title }: ToolSummary, view: View): string[] {
  return plain(title, view);
}

export function planLines({ plan }: Plan, view: View): string[] {
  return plan.flatMap(({ step }) => plain(step, view));
}

/** The box "Changes This Turn". */
export function changesLines({ files_modified }: TurnDiff, view: View): string[] {
  return files_modified.flatMap((path) => plain(path, view));
}

export function noticeLines(_kind: "info" | "warning" | "error", text: string, view: View): string[] {
  return plain(text, view);
}

export function knowledgeLines({ content }: Extract<EventMsg, { type: "knowledge_saved" }>, view: View): string[] {
  return plain(content, view);
}

function plain(text: string, view: View): string[] {
  return cleanLines(text).flatMap((line) => wrapText(line, view.columns));
}
