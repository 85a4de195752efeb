import { openRollout } from "./lines.js";

/** Substrings of lines that contain the complete history; inside a text the quotes would be escaped. */
const marks = ['"replacement_history":[', '"type":"history_replaced"'];
const newline = 0x0a;
const pieceBytes = 1024 * 1024;
/** Overlap of consecutive pieces, because a line may begin in the earlier one: its mark follows its summary. */
const sharedBytes = 64 * 1024;
/** Limit of the search; the history a model can see, and the lines since its replacement, are mostly shorter. */
const searchedBytes = 16 * pieceBytes;

/**
 * Finds the offset near the end of a rollout at which a line seems to begin that replaces the whole history. The
 * search parses nothing, so the caller must verify that line.
 */
export async function findReplacement(
  path: string,
  conversationId: string,
  bytes: number,
): Promise<number | undefined> {
  const file = await openRollout(path, conversationId);
  try {
    const buffer = Buffer.allocUnsafe(pieceBytes + sharedBytes);
    for (let to = bytes; to > Math.max(0, bytes - searchedBytes); to -= pieceBytes) {
      const from = Math.max(0, to - buffer.length);
      const { bytesRead } = await file.read(buffer, 0, to - from, from);
      const piece = buffer.subarray(0, bytesRead);
      const found = Math.max(...marks.map((mark) => piece.lastIndexOf(mark)));
      if (found !== -1) return from + piece.lastIndexOf(newline, found) + 1;
    }
    return undefined;
  } finally {
    await file.close();
  }
}
