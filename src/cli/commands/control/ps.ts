import { visible } from "../../../base/text/visible.js";
import type { RunningState } from "../../../messages/control.js";
import { currentTime, printResult, type SharedContext } from "../../context.js";
import { RunningProcesses } from "../../conversations/running.js";
import { columnLines, fitted, tokenText } from "../../format.js";

const maxNameCells = 30;

const stateTexts = {
  working: "working",
  needs_approval: "needs approval",
  idle: "idle",
  asleep: "asleep",
} satisfies Record<RunningState, string>;

export async function psCommand(context: SharedContext<"all">): Promise<number> {
  using running = await RunningProcesses.connect(context, { allHomes: context.flags.all === true });
  const conversations = running.processes.flatMap(({ client, conversations: open }) => {
    const { pid, kind, home, version } = client.welcome;
    return open.map((conversation) => ({ ...conversation, pid, kind, home, version }));
  });
  const now = currentTime(context);
  const rows = conversations.map((each) => [
    each.conversation_id,
    stateTexts[each.state],
    visible(each.model),
    tokenText(each.tokens),
    shortAge(now - each.opened_at),
    `${each.pid} (${each.kind})`,
    fitted(visible(each.name ?? ""), maxNameCells),
  ]);
  const head = ["CONVERSATION", "STATE", "MODEL", "TOKENS", "OPEN FOR", "PROCESS", "NAME"];
  const text = rows.length === 0 ? "No conversation is open." : columnLines([head, ...rows]).join("\n");
  await printResult(context, { text, json: { conversations, problems: running.problems } });
  for (const problem of running.problems) await context.tell(`Not asked: ${problem}`);
  return 0;
}

/** An age in its largest unit, such as 42s, 5m, 3h or 2d. */
export function shortAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
