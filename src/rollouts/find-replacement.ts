import { openRegularFile } from "./file/raw-lines.js";

/** Where such a line says that it holds all of the history; in a text the quotes would be escaped. */
const marks = ['"replacement_history":[', '"type":"history_replaced"'];
const newline = 0x0a;
const pieceBytes = 1024 * 1024;
/** So much of a piece is in the one before as well, in which a line may begin: its mark stands behind its summary. */
const sharedBytes = 64 * 1024;
/** What a model can see is mostly shorter, and so is what was said since its history was replaced. */
const searchedBytes = 16 * pieceBytes;

/**
 * Where near the end of a rollout a line seems to begin that replaces the history as a whole. It is only looked for,
 * nothing is parsed: whoever relies on it must see whether that line comes.
 */
export async function findReplacement(
  path: string,
  conversationId: string,
  bytes: number,
): Promise<number | undefined> {
  const file = await openRegularFile(path, conversationId);
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
