import { relative } from "node:path";
import { changeLines, changeWords } from "../../../messages/change-lines.js";
import type { FileChanges } from "../../../messages/file-change.js";
import { quotedWord } from "../../../base/text/quoted-command.js";
import { shortened } from "../../../base/text/shortened.js";
import { shownLine, ShownLines } from "../../../base/text/shown-lines.js";

const maxPathChars = 500;

/** What a patch does to files, as it is shown: each file by its name from a folder, and a bounded part of its lines. */
export function patchText(changes: FileChanges, cwd: string | undefined): string {
  return Object.entries(changes)
    .map(([path, change]) => {
      const lines = new ShownLines();
      const words = changeWords(change, path, (name) => pathText(name, cwd));
      return shownLine(words) + lines.add(changeLines(change)) + lines.end();
    })
    .join("");
}

function pathText(path: string, cwd: string | undefined): string {
  const inside = cwd === undefined ? path : relative(cwd, path);
  return shortened(quotedWord(inside.startsWith("..") ? path : inside), maxPathChars);
}
