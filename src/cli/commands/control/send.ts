import type { RunningConversation } from "../../../messages/control.js";
import type { Op } from "../../../messages/submission.js";
import type { ControlClient } from "../../../control/control-client.js";
import { visible } from "../../../base/text/visible.js";
import { version } from "../../../version.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { findTarget } from "../../conversations/choose-conversation.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import { RunningProcesses } from "../../conversations/running.js";
import { watchSignals } from "../../terminal/interruption.js";
import { readAll } from "../../terminal/read-input.js";

export async function sendCommand(context: ContextOf<"send">): Promise<number> {
  const { args, flags, terminal } = context;
  const [name, ...words] = args;
  const usage = 'Usage: cody send <id> "text"';
  if (name === undefined) throw usageError("Which conversation?", usage);
  if (flags.steer && flags.queue) throw usageError("--steer and --queue exclude each other");
  using interruption = watchSignals(terminal);
  const isRead = words.length === 0 && terminal.stdin.isTTY !== true;
  const text = isRead ? await readAll(terminal.stdin, interruption.signal) : words.join(" ");
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  if (text.trim() === "") throw usageError("Nothing to send: the message is empty", usage);
  using running = await RunningProcesses.connect(context);
  const { client, conversationId } = await receiver(context, running, name);
  // Text of a pipe may have been written by others.
  const outside = isRead && terminal.isStdinPiped ? { outside_content: true } : {};
  const key = flags.key === undefined ? {} : { key: flags.key };
  const items = [{ type: "text" as const, text }];
  const op: Op = { type: flags.steer ? "steer" : "queue", items, ...outside, ...key };
  const sent = await client.ask({ type: "submit", conversation_id: conversationId, op });
  const json = { conversation_id: conversationId, submission_id: sent.submission_id, status: sent.status };
  const what = sent.status === "duplicate" ? "Sent before under this key" : "Sent";
  await printResult(context, { text: `${what}: ${sent.submission_id}`, json });
  return 0;
}

/** Warns about a daemon of another version: it understands the message, but it plays the turn with its own code. */
async function noteOtherVersion(context: ContextOf<"send">, { welcome }: ControlClient): Promise<void> {
  if (welcome.version === version) return;
  const advice = "restart it with: cody daemon stop; cody daemon start";
  await context.tell(`The daemon is cody ${visible(welcome.version)}, this is ${version}; ${advice}`);
}

interface Receiver {
  readonly client: ControlClient;
  readonly conversationId: RunningConversation["conversation_id"];
}

/** The process that has the conversation open, or the daemon, which opens it. */
async function receiver(context: ContextOf<"send">, running: RunningProcesses, name: string): Promise<Receiver> {
  const daemon = running.daemon?.client;
  const open = running.find(name);
  if (open !== undefined && open.client !== daemon) {
    return { client: open.client, conversationId: open.conversation.conversation_id };
  }
  const { id, path } =
    open === undefined
      ? await findTarget(context, await loadPlaces(context), name)
      : { id: open.conversation.conversation_id };
  const other = running.find(id);
  if (other !== undefined && other.client !== daemon) return { client: other.client, conversationId: id };
  const client = daemon;
  if (client === undefined) {
    throw new CommandError(`Conversation '${id}' is not open in any process`, exitCodes.failed, [
      `To send the message and wait for the answer: cody chat --resume ${id} "text"`,
      "To keep conversations open in the background: cody daemon start",
      ...running.problems.map((problem) => `Not asked: ${problem}`),
    ]);
  }
  await noteOtherVersion(context, client);
  // The daemon opens it, or opens it again if the settings have changed.
  const opened = await client.ask({
    type: "open",
    conversation_id: id,
    ...(path === undefined ? {} : { path }),
    cwd: context.terminal.cwd,
    recorded_cwd: context.flags.recordedCwd,
  });
  return { client, conversationId: opened.conversation_id };
}
