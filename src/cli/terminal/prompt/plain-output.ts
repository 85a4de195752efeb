import type { CommandContext } from "../../context.js";
import type { Output } from "../output.js";
import type { Terminal } from "../terminal.js";

export const plainMark = "> ";

/** The words for symbols at the start of a line, for screen readers. */
const words: readonly (readonly [symbol: RegExp, word: string])[] = [
  [/^(\s*)✗ /, "$1Error: "],
  [/^(\s*)✓ /, "$1OK: "],
  [/^(\s*)☐ /, "$1To do: "],
  [/^(\s*)▸ /, "$1Now: "],
  [/^(\s*)✔ /, "$1Done: "],
  [/^(\s*)[›] /, "$1> "],
  [/^(\s*)💡 /u, "$1"],
  [/^(\s*)• /, "$1- "],
  [/^(\s*)┆ /, "$1(continued) "],
  [/ › $/, " > "],
];
/** The upper, middle and lower edges of a frame, and its sides. */
const edge = /^\s*[╭├╰]─*[╮┤╯]\s*$/;
const framed = /^(\s*)│ (.*?)\s*│$/;

/** Replaces symbols at the start of a line with words, and removes frames; undefined for a line that has no text. */
function plainLine(line: string): string | undefined {
  if (edge.test(line)) return undefined;
  const inner = line.replace(framed, "$1$2");
  return words.reduce((text, [symbol, word]) => text.replace(symbol, word), inner);
}

/** The context of a plain prompt: words instead of symbols, and nothing that is drawn over. */
export function plainContext<Context extends CommandContext>(context: Context): Context {
  const terminal: Terminal = Object.create(context.terminal, {
    stdout: { value: plainOutput(context.terminal.stdout) },
    // Not a terminal, so that animations are printed as lines.
    stderr: { value: Object.create(plainOutput(context.terminal.stderr), { isTTY: { value: false } }) },
  });
  return { ...context, terminal, tell: (text: string) => context.tell(plainText(text)) };
}

export function plainText(text: string): string {
  return text
    .split("\n")
    .flatMap((line) => plainLine(line) ?? [])
    .join("\n");
}

/** A text in pieces is changed only where a piece begins a line. */
function plainOutput(output: Output): Output {
  let isAtStart = true;
  const plain = (text: string): string => {
    if (text === "") return "";
    const lines = text.split("\n");
    const shown = lines.flatMap((line, index) => {
      if (index === 0 && !isAtStart) return [line];
      return plainLine(line) ?? [];
    });
    isAtStart = text.endsWith("\n");
    return shown.join("\n");
  };
  return Object.create(output, {
    write: { value: (text: string) => output.write(plain(text)) },
  }) as Output;
}
