import { quotedCommand } from "../../base/text/quoted-command.js";
import { shortened } from "../../base/text/truncate.js";
import type { ReceivedEvent } from "../../control/control-client.js";
import { isApprovalMsg } from "../../messages/event.js";
import { printLine, type CommandContext } from "../context.js";
import { approvalText } from "./approval-text.js";
import { rendererFor } from "./render.js";

const maxCommandChars = 500;

/** Returns a function that prints the events of another process's conversation; `asks` shows whole approval requests. */
export function followedEvents(
  context: CommandContext,
  { asks }: { readonly asks: boolean },
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
    const command = shortened(quotedCommand(request.command), maxCommandChars);
    await terminal.stdout.write(
      asks
        ? approvalText(request, terminal.stdout.columns)
        : `Needs approval: ${command}\n  cody approvals answer ${request.approval_id}\n`,
    );
  };
}
