import { counted } from "../../../base/text/counted.js";
import { usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { RunningProcesses } from "../../conversations/running.js";

export async function stopCommand(context: ContextOf<"stop">): Promise<number> {
  const [text, ...others] = context.args;
  if (text === undefined || others.length > 0) throw usageError("Which conversation?", "Usage: cody stop <id>");
  using running = await RunningProcesses.connect(context);
  const { client, conversation } = running.require(text);
  const { conversation_id } = conversation;
  const { interrupted, withdrawn } = await client.ask({ type: "stop", conversation_id });
  const turn = interrupted ? "Interrupted the turn of" : "No turn was running in";
  const dropped = withdrawn === 0 ? "" : `; dropped ${counted(withdrawn, "message")} that waited`;
  const json = { conversation_id, interrupted, withdrawn };
  await printResult(context, { text: `${turn} ${conversation_id}${dropped}`, json });
  return 0;
}
