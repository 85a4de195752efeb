import type { CompactionOutcome } from "../../messages/compaction-report.js";
import type { CommandContext } from "../context.js";
import type { Watched } from "./turn-player.js";

/** Tells why nothing was compacted, unless a warning has. Says whether it failed: that there is nothing to do is none. */
export async function tellNotCompacted(
  context: CommandContext,
  { result, msgs }: Watched<CompactionOutcome>,
): Promise<boolean> {
  if (result.status === "aborted") await context.tell("Interrupted.");
  if (result.status !== "kept") return false;
  const { reason } = result;
  const isWarned = msgs.some((msg) => msg.type === "warning" && msg.message === reason);
  if (!isWarned) await context.tell(reason);
  // What was begun and ended with a warning could not be done.
  return isWarned && msgs.some(({ type }) => type === "compaction_start");
}
