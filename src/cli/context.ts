import type { RolloutOutbox } from "../actors/rollout-writer/outbox.js";
import type { Diagnostics } from "./diagnostics.js";
import type { Flags } from "./arguments/flags.js";
import type { Terminal } from "./terminal/terminal.js";

/** What a command runs with. */
export interface CommandContext extends Diagnostics {
  readonly terminal: Terminal;
  readonly home: string;
  /** Where Codex keeps its files; a user without a home has none. */
  readonly codexHome: string | undefined;
  /** What stands behind the command's name, word for word. */
  readonly args: readonly string[];
  readonly flags: Flags;
  /** A writer that starts while the command is still being loaded. */
  readonly outbox?: RolloutOutbox | undefined;
}

/** A command resolves with the exit code. */
export type Command = (context: CommandContext) => Promise<number>;

/** What a command has to say: for a person, or with --json as one JSON value on a line. */
export function printResult(context: CommandContext, result: { text: string; json: unknown }): Promise<void> {
  return printLine(context, context.flags.json ? JSON.stringify(result.json) : result.text);
}

export function printLine({ terminal, flags }: CommandContext, text: string): Promise<void> {
  return flags.json ? terminal.stdout.writeExact(`${text}\n`) : terminal.stdout.write(`${text}\n`);
}
