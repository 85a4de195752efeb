import { apply, emptyState } from "./state.js";
import type { StoredLines, StoredState } from "./store.js";

/** What the lines of a conversation have made of it. */
export async function foldLines(lines: StoredLines): Promise<StoredState> {
  const state = emptyState();
  for await (const batch of lines) for (const line of batch) apply(state, line);
  return { state, bytes: lines.end.bytes, skipped: lines.end.skipped };
}
