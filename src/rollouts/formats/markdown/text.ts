import { visible } from "../../../base/text/visible.js";

const minFence = 3;

/** A text as a block of its own: with a fence longer than any in it. */
export function fenced(text: string, language = ""): string {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = "`".repeat(Math.max(minFence, ...runs.map((run) => run.length + 1)));
  return `${fence}${language}\n${text.endsWith("\n") ? text : `${text}\n`}${fence}`;
}

/** A text in a quote: whatever is begun in it ends with it. */
export function quoted(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
}

/** A text on one line in which nothing is Markdown. */
export function plainText(text: string): string {
  return visible(text).replaceAll(/[\\`*_{}[\]<>#|~&]/g, "\\$&");
}

/**
 * What a model wrote, as it wrote it, but so that nothing of it reaches beyond its end: a block of code that was not
 * ended is ended, headings stand below ours, and HTML is shown and not obeyed.
 */
export function proseOf(text: string): string {
  const written: string[] = [];
  let prose: string[] = [];
  let fence: string | undefined;
  const endProse = (): void => {
    written.push(...withoutHtml(prose));
    prose = [];
  };
  for (const line of text.trim().split("\n")) {
    const begins = fence === undefined ? fenceOf(line) : undefined;
    if (begins !== undefined || fence !== undefined) {
      endProse();
      if (fence !== undefined && closes(line, fence)) fence = undefined;
      else fence ??= begins;
      written.push(line);
    } else {
      prose.push(lowered(line));
      if (line.trim() === "") endProse();
    }
  }
  endProse();
  return [...written, ...(fence === undefined ? [] : [fence])].join("\n");
}

function fenceOf(line: string): string | undefined {
  const [, mark, rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  return mark?.startsWith("`") === true && rest.includes("`") ? undefined : mark;
}

function closes(line: string, fence: string): boolean {
  const text = line.trim();
  return text.startsWith(fence) && text === fence.charAt(0).repeat(text.length);
}

const maxHeading = 6;
const below = 2;

function lowered(line: string): string {
  const [, marks = ""] = /^ {0,3}(#{1,6})(?:\s|$)/.exec(line) ?? [];
  if (marks === "") return line;
  return "#".repeat(Math.min(maxHeading, marks.length + below)) + line.trimStart().slice(marks.length);
}

/** Between backticks everything is shown as it is; unless they may belong to those of another line. */
function withoutHtml(lines: readonly string[]): string[] {
  const pieces = lines.map((line) => (line.includes("\\`") ? undefined : codeAndText(line)));
  const areBalanced = pieces.every((each) => each !== undefined);
  return lines.map((line, index) => {
    const each = areBalanced ? pieces[index] : undefined;
    return each === undefined
      ? escaped(line)
      : each.map((piece, at) => (at % 2 === 1 ? piece : escaped(piece))).join("");
  });
}

/** Text and code by turns; undefined when a backtick is left over. */
function codeAndText(line: string): string[] | undefined {
  const pieces: string[] = [];
  let from = 0;
  for (;;) {
    const begin = line.indexOf("`", from);
    if (begin === -1) return [...pieces, line.slice(from)];
    const [run = ""] = /^`+/.exec(line.slice(begin)) ?? [];
    const rest = line.slice(begin + run.length);
    const end = [...rest.matchAll(/`+/g)].find(([other]) => other === run);
    if (end === undefined) return undefined;
    const to = begin + run.length + end.index + run.length;
    pieces.push(line.slice(from, begin), line.slice(begin, to));
    from = to;
  }
}

function escaped(text: string): string {
  return text.replaceAll(/<(?=[A-Za-z/!?])/g, "\\<");
}
