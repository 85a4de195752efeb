import { compactedText } from "../../format.js";
import {
  changesLines,
  knowledgeLines,
  noticeLines,
  planLines,
  reasoningLine,
  toolSummaryLines,
  userLines,
} from "../view/entries.js";
import { MarkdownStream } from "../view/markdown.js";
import { cleanLine, cleanLines, wrapText } from "../view/rows.js";
import type { View } from "../view/view.js";
import type { Entry } from "./conversation-state.js";

/** Turns entries into the lines of a transcript that only grows. Knows the answer that is still being written. */
export class Transcript {
  #answer: MarkdownStream | undefined;
  /** An empty line separates entries, except neighbours of the same kind that belong together. */
  #lastType: Entry["type"] | undefined;
  #isLastLong = false;
  /** The answer that is being written has lines in the transcript. */
  #hasBegun = false;

  /** The lines of entries that have not been printed. */
  linesOf(entries: readonly Entry[], view: View): string[] {
    const lines: string[] = [];
    for (const entry of entries) {
      if (entry.type === "answer") lines.push(...this.#answerLines(entry, view));
      else lines.push(...this.#separated(entry.type, linesOf(entry, view)));
    }
    return lines;
  }

  /** The end of the answer that is still being written. */
  openLines(view: View, maxRows: number): string[] {
    const lines = this.#answer?.openLines(view, maxRows) ?? [];
    return this.#hasBegun || lines.length === 0 ? lines : ["", ...lines].slice(-maxRows);
  }

  #answerLines({ text, isEnd }: Extract<Entry, { type: "answer" }>, view: View): string[] {
    this.#answer ??= new MarkdownStream();
    this.#answer.push(text);
    const lines = isEnd ? this.#answer.end(view) : this.#answer.takeFinished(view);
    const separated = this.#hasBegun || lines.length === 0 ? lines : this.#separated("answer", lines);
    this.#hasBegun = !isEnd && (this.#hasBegun || lines.length > 0);
    if (isEnd) this.#answer = undefined;
    return separated;
  }

  #separated(type: Entry["type"], lines: string[]): string[] {
    if (lines.length === 0) return [];
    // Calls that are one line each stand together; the change of a patch stands alone.
    const isLong = type === "tool" && (this.#isLastLong || lines.length > 1);
    const joins = joinsLast(this.#lastType, type) && !isLong;
    this.#isLastLong = lines.length > 1;
    const isFirst = this.#lastType === undefined;
    this.#lastType = type;
    return joins || isFirst ? lines : ["", ...lines];
  }
}

/** Whether no empty line separates an entry from the one before. */
function joinsLast(last: Entry["type"] | undefined, type: Entry["type"]): boolean {
  if (type === "output" || type === "notice") return last === "output" || last === "notice" || last === "command";
  return type === "tool" && last === "tool";
}

type OtherEntry = Exclude<Entry, { type: "answer" }>;
type Lines<T extends Entry["type"]> = (entry: Extract<Entry, { type: T }>, view: View) => string[];

const linesByType: { readonly [T in OtherEntry["type"]]: Lines<T> } = {
  user: ({ text, images }, view) => [...userLines(text, view), ...imageLines(images, view)],
  reasoning: ({ durationMs = 0 }, view) => [reasoningLine({ elapsedMs: durationMs, hint: "ctrl-o" }, view)],
  tool: ({ summary }, view) => toolSummaryLines(summary, view),
  plan: ({ plan }, view) => planLines(plan, view),
  changes: ({ diff }, view) => changesLines(diff, view),
  compaction: ({ before, after }, view) => noticeLines("info", compactedText(before, after), view),
  knowledge: ({ saved }, view) => knowledgeLines(saved, view),
  notice: ({ kind, text }, view) => noticeLines(kind, text, view),
  command: ({ text }, { columns, theme }) =>
    cleanLines(text).flatMap((line) => wrapText(`› ${line}`, columns, theme.accent)),
  output: ({ lines, isStyled = false }, { columns }) =>
    isStyled ? [...lines] : lines.flatMap((line) => wrapText(cleanLine(line), columns)),
};

function linesOf(entry: OtherEntry, view: View): string[] {
  // The entry decides which function it is.
  const lines = linesByType[entry.type] as (each: OtherEntry, view: View) => string[];
  return lines(entry, view);
}

function imageLines(count: number, view: View): string[] {
  return count === 0 ? [] : [view.theme.dim(count === 1 ? "[1 image]" : `[${count} images]`)];
}
