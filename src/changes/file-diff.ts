import type { DiffHunk, FileDiff } from "../messages/tools/diff.js";
import { editScript } from "./edit-script.js";
import { type ChangedFile, type FileVersion, isBinary } from "./changed-file.js";
import { hunksOf } from "./hunks.js";
import { linesIn } from "./number-lines.js";
import { unifiedDiff } from "./unified-diff.js";

/** Compares a file line by line. A file that became a link, or the reverse, is deleted and added as a whole. */
export function fileDiff(change: ChangedFile): FileDiff {
  const [first, second] = piecesOf(change).map(pieceDiff);
  if (first === undefined || second === undefined) return first ?? pieceDiff(change);
  const { path, additions } = second;
  const binary = first.binary ?? second.binary;
  const hunks = [...first.hunks, ...second.hunks];
  return { path, status: "modified", additions, deletions: first.deletions, ...(binary && { binary }), hunks };
}

/** Returns the diff as unified text. */
export function fileDiffText(change: ChangedFile): string {
  return piecesOf(change)
    .map((piece) => unifiedDiff(piece, pieceDiff(piece)))
    .join("");
}

/** Git expresses the change between a file and a link only as a deletion followed by a creation. */
function piecesOf(change: ChangedFile): ChangedFile[] {
  const { path, before, after } = change;
  const isSameKind = before === undefined || after === undefined || isLink(before) === isLink(after);
  return isSameKind
    ? [change]
    : [
        { path, before },
        { path, after },
      ];
}

function isLink({ mode }: FileVersion): boolean {
  return mode === "120000";
}

function pieceDiff(change: ChangedFile): FileDiff {
  const { path, before, after } = change;
  const status = before === undefined ? "created" : after === undefined ? "deleted" : "modified";
  if (isBinary(change)) return { path, status, additions: 0, deletions: 0, binary: true, hunks: [] };
  const [old, now] = [linesOf(before?.bytes), linesOf(after?.bytes)];
  const edits = editScript(old, now);
  return {
    path,
    status,
    additions: edits.reduce((sum, { newCount }) => sum + newCount, 0),
    deletions: edits.reduce((sum, { oldCount }) => sum + oldCount, 0),
    hunks: hunksOf(old, now, edits).map(decodedHunk),
  };
}

/** Decodes one character per byte, so that lines are equal exactly when their bytes are. */
function linesOf(bytes: Uint8Array = new Uint8Array()): string[] {
  return linesIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"));
}

function decodedHunk(hunk: DiffHunk): DiffHunk {
  const lines = hunk.lines.map((line) => ({ ...line, text: Buffer.from(line.text, "latin1").toString() }));
  return { ...hunk, lines };
}
