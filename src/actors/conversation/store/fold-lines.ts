import { apply, emptyState } from "../state/state.js";
import type { StoredLines, StoredState } from "./store.js";
import { Transcript } from "../state/transcript.js";

/** Folds the lines of a conversation into its state and transcript. */
export async function foldLines(lines: StoredLines): Promise<StoredState> {
  const state = emptyState();
  const transcript = new Transcript();
  for await (const batch of lines) {
    for (const line of batch) {
      apply(state, line);
      transcript.add(line);
    }
  }
  return { state, shown: transcript.messages(), bytes: lines.end.bytes, skipped: lines.end.skipped };
}
