import type { RolloutOutbox } from "../actors/rollout-writer/outbox.js";
import type { ProjectRoots } from "../config/project/project-roots.js";
import type { Diagnostics } from "./diagnostics.js";
import type { Flags } from "./arguments/flags.js";
import type { Terminal } from "./terminal/terminal.js";

/** The environment of a running command. */
export interface CommandContext extends Diagnostics {
  readonly terminal: Terminal;
  readonly home: string;
  /** Codex's folder; undefined for a user without a home. */
  readonly codexHome: string | undefined;
  /** The project of the working directory; searched for once in a command. */
  readonly projectRoots: () => Promise<ProjectRoots>;
  /** The arguments after the command's name, as typed. */
  readonly args: readonly string[];
  readonly flags: Flags;
  /** A rollout writer that was started while the command was still being loaded. */
  readonly outbox?: RolloutOutbox | undefined;
}

/** Resolves with the exit code. */
export type Command = (context: CommandContext) => Promise<number>;

/** Prints a command's result: as text, or with --json as one line of JSON. */
export function printResult(context: CommandContext, result: { text: string; json: unknown }): Promise<void> {
  return printLine(context, context.flags.json ? JSON.stringify(result.json) : result.text);
}

export function printLine({ terminal, flags }: CommandContext, text: string): Promise<void> {
  return flags.json ? terminal.stdout.writeExact(`${text}\n`) : terminal.stdout.write(`${text}\n`);
}
