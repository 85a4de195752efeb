import { quotedCommand } from "../../base/text/quoted-command.js";
import { shortened } from "../../base/text/truncate.js";
import type { ReceivedEvent } from "../../control/control-client.js";
import { isApprovalMsg } from "../../messages/event.js";
import type { ApprovalRequest } from "../../messages/tools/approval.js";
import { printLine, type CommandContext } from "../context.js";
import { answerCommand } from "./approval-text.js";
import { rendererFor } from "./render.js";

const maxCommandChars = 500;

/** Returns a function that prints the events of another process's conversation; `ask` shows an approval request. */
export function followedEvents(
  context: CommandContext,
  ask?: (request: ApprovalRequest) => Promise<void>,
): (received: ReceivedEvent) => Promise<void> {
  const { terminal, flags } = context;
  const render = rendererFor(context, "stdout");
  return async ({ eventId, event }) => {
    if (flags.json) return await printLine(context, JSON.stringify({ event_id: eventId, ...event }));
    const { msg } = event;
    if (msg.type === "user_message") await terminal.stdout.write(`› ${msg.message}\n`);
    await render(event);
    if (!isApprovalMsg(msg)) return;
    const { type: _, ...request } = msg;
    if (ask !== undefined) return await ask(request);
    const command = shortened(quotedCommand(request.command), maxCommandChars);
    await terminal.stdout.write(`Needs approval: ${command}\n  ${answerCommand(request)}\n`);
  };
}
