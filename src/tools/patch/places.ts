import { FileProblem } from "../files/file-problem.js";
import type { Chunk, PatchLine } from "./file-patch.js";
import { LineFinder } from "./line-finder.js";
import type { TextLine } from "./text-lines.js";

const maxQuotedChars = 1_000;

/** Where a chunk's lines begin in the file. */
export interface Place {
  readonly at: number;
  readonly lines: readonly PatchLine[];
}

/** The places of chunks, in the order of the file; each is looked for behind the one before. */
export function placesOf(lines: readonly TextLine[], chunks: readonly Chunk[]): Place[] {
  const finder = new LineFinder(lines.map(({ text }) => text));
  let from = 0;
  const places = chunks.map((chunk): Place => {
    for (const context of chunk.contexts) {
      from = (finder.find([context], from, false) ?? notFound([context], from)) + 1;
    }
    const wanted = chunk.lines.flatMap(({ kind, text }) => (kind === "added" ? [] : [text]));
    if (wanted.length === 0) return insertion(lines, chunk, from);
    const at =
      finder.find(wanted, from, chunk.atEnd) ??
      // Some models say the line above a place and then begin with it.
      (chunk.contexts.length > 0 ? finder.find(wanted, from - 1, chunk.atEnd) : undefined) ??
      notFound(wanted, from);
    from = at + wanted.length;
    return { at, lines: chunk.lines };
  });
  return places.toSorted((one, other) => one.at - other.at);
}

/** Lines that replace none: behind the line that was named, else at the end. */
function insertion(lines: readonly TextLine[], { contexts, lines: added, atEnd }: Chunk, from: number): Place {
  const at = contexts.length > 0 && !atEnd ? from : lines.length;
  const before = lines[at - 1];
  if (before?.end !== "") return { at, lines: added };
  // A line that gets its end by this is changed too.
  return { at: at - 1, lines: [{ kind: "context", text: before.text }, ...added] };
}

function notFound(wanted: readonly string[], from: number): never {
  const where = from === 0 ? "" : ` after line ${from}`;
  const text = wanted.join("\n");
  const quoted = text.length > maxQuotedChars ? `${text.slice(0, maxQuotedChars).toWellFormed()}…` : text;
  throw new FileProblem(`these lines are not in it${where}:\n${quoted}`);
}
