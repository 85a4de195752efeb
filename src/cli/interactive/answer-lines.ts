import { exitCodes } from "../command-error.js";
import type { CommandContext } from "../context.js";
import type { Interruption } from "../interruption.js";
import { readLines } from "../read-input.js";
import type { CurrentConversation } from "./current-conversation.js";
import { isSlashCommand, slashCommand } from "./slash-commands.js";

/** Answers every line of the input, in order. What is no command of ours is a message, whatever it begins with. */
export async function answerLines(
  context: CommandContext,
  current: CurrentConversation,
  { signal }: Interruption,
): Promise<number> {
  const { stdin, stdout } = context.terminal;
  let exitCode = 0;
  for await (const line of readLines(stdin, signal)) {
    if (line.trim() === "") continue;
    const command = isSlashCommand(line) ? slashCommand(line) : undefined;
    if (command !== undefined) {
      if ((await command(context, current)) === "leave") break;
      continue;
    }
    const outcome = await (await current.player()).play(line, signal);
    if (outcome === "failed") exitCode = exitCodes.failed;
    // Nobody is there to read the answers to the other lines.
    if (signal.aborted || stdout.closed) break;
  }
  return exitCode;
}
