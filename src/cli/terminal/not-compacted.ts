import type { CompactionOutcome } from "../../messages/compaction.js";
import type { CommandContext } from "../context.js";
import type { WithEvents } from "./turn-player.js";

/**
 * Reports why nothing was compacted, unless a warning did. Returns true if the compaction failed; having nothing to do
 * is not a failure.
 */
export async function reportNotCompacted(
  context: CommandContext,
  { result, msgs }: WithEvents<CompactionOutcome>,
): Promise<boolean> {
  if (result.status === "aborted") await context.tell("Interrupted.");
  if (result.status !== "kept") return false;
  const { reason } = result;
  const isWarned = msgs.some((msg) => msg.type === "warning" && msg.message === reason);
  if (!isWarned) await context.tell(reason);
  // A compaction that started and ended with a warning has failed.
  return isWarned && msgs.some(({ type }) => type === "compaction_start");
}
