import { usageError } from "../../command-error.js";
import type { ContextOf } from "../../context.js";
import { RunningProcesses } from "../../conversations/running.js";
import { followedEvents } from "../../terminal/follow-events.js";
import { watchSignals } from "../../terminal/interruption.js";

export async function tailCommand(context: ContextOf<"tail">): Promise<number> {
  const [text, ...others] = context.args;
  if (text === undefined || others.length > 0) throw usageError("Which conversation?", "Usage: cody tail <id>");
  using interruption = watchSignals(context.terminal);
  using running = await RunningProcesses.connect(context);
  const { client, conversation } = running.require(text);
  const { events } = await client.events(conversation.conversation_id, context.flags.since);
  const show = followedEvents(context);
  interruption.signal.addEventListener("abort", () => void events.return?.());
  for await (const event of events) {
    await show(event);
    if (context.terminal.stdout.closed) break;
  }
  return interruption.exitCode ?? 0;
}
