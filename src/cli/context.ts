import type { RolloutOutbox } from "../actors/rollout-writer/outbox.js";
import { conversationName } from "../base/text/conversation-name.js";
import type { ProjectRoots } from "../config/project/project.js";
import type { CommandFlags, CommandName } from "./arguments/command-table.js";
import type { FlagName, FlagValues, GlobalFlag } from "./arguments/flag-table.js";
import { usageError } from "./command-error.js";
import type { Diagnostics } from "./diagnostics.js";
import type { Terminal } from "./terminal/terminal.js";

/** The environment of a running command. Code that reads only global flags takes it as it is. */
export interface CommandContext<Flags = FlagValues<GlobalFlag>> extends Diagnostics {
  readonly terminal: Terminal;
  readonly home: string;
  /** Codex's folder; undefined for a user without a home. */
  readonly codexHome: string | undefined;
  /** The project of the working directory; searched for once in a command. */
  readonly projectRoots: () => Promise<ProjectRoots>;
  /** The arguments after the command's name, as typed. */
  readonly args: readonly string[];
  readonly flags: Flags;
  /** Runs another command line; resolves with its exit code. */
  readonly runCommandLine: (argv: readonly string[], terminal: Terminal) => Promise<number>;
  /** A rollout writer that was started while the command was still being loaded. */
  readonly outbox?: RolloutOutbox | undefined;
}

/** The context of one command: it has the flags that the command declares in the command table. */
export type ContextOf<N extends CommandName> = CommandContext<CommandFlags<N>>;

/** Resolves with the exit code. */
export type Command<N extends CommandName> = (context: ContextOf<N>) => Promise<number>;

/** A context for code that several commands share: these flags are absent if the command does not declare them. */
export type SharedContext<F extends FlagName> = CommandContext<FlagValues<GlobalFlag> & Partial<FlagValues<F>>>;

/** Prints a command's result: as text, or with --json as one line of JSON. */
export function printResult(context: CommandContext, result: { text: string; json: unknown }): Promise<void> {
  return printLine(context, context.flags.json ? JSON.stringify(result.json) : result.text);
}

export function printLine({ terminal, flags }: CommandContext, text: string): Promise<void> {
  return flags.json ? terminal.stdout.writeExact(`${text}\n`) : terminal.stdout.write(`${text}\n`);
}

/** The name of a new conversation from --name; existing ones are renamed with `cody rename`. */
export function nameFlag({ flags }: SharedContext<"name" | "resume" | "continue">): { readonly name?: string } {
  if (flags.name === undefined) return {};
  if (flags.resume !== undefined || flags.continue === true) {
    throw usageError("--name is only for a new conversation", "To rename one: cody rename <id> <name>");
  }
  return { name: conversationName(flags.name) };
}

/** The current time in milliseconds since 1970. */
export function currentTime({ terminal }: Pick<CommandContext, "terminal">): number {
  return terminal.now?.() ?? Date.now();
}
