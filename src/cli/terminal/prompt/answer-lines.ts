import { refusingApprover } from "../approval/refuse-approval.js";
import type { CommandContext } from "../../context.js";
import { exitCodeOf } from "../../exit-code.js";
import type { Interruption } from "../interruption.js";
import { readLines } from "../read-input.js";
import type { CurrentConversation } from "./current-conversation.js";
import { isSlashCommand, slashCommand } from "./slash-commands.js";

/**
 * Answers every line of the input in order. A line that is not one of our commands is a message, whatever it begins
 * with; so no line can answer an approval question.
 */
export async function answerLines(
  context: CommandContext,
  current: CurrentConversation,
  { signal }: Interruption,
): Promise<number> {
  const { stdin, stdout } = context.terminal;
  const options = { signal, approve: refusingApprover(context) };
  const outcomes = new Set([await current.begin(options)]);
  for await (const line of readLines(stdin, signal)) {
    if (line.trim() === "") continue;
    const command = isSlashCommand(line) ? slashCommand(line) : undefined;
    if (command !== undefined) {
      if ((await command(context, current, signal)) === "leave") break;
      continue;
    }
    outcomes.add(await (await current.player()).play(line, options));
    // Nobody would read the remaining answers.
    if (signal.aborted || stdout.closed) break;
  }
  return exitCodeOf(...outcomes);
}
