import type { CommandContext } from "../../context.js";
import type { PromptConversation } from "./prompt-conversation.js";

export type Then = "stay" | "leave";

export type Ask = (question: string) => Promise<string | undefined>;

/** The lists that the interactive screen can open to choose from. */
export type Picker = "fork" | "permissions" | "resume" | "theme" | "tree";

/** The settings of a conversation whose values the interactive screen can list. */
export type ListedSetting = "approvals" | "model" | "provider" | "sandbox";

/** Actions that need the interactive screen. */
export interface ScreenCommands {
  pick(what: Picker): Promise<void>;
  /** Lists the values of a setting; resolves with the chosen one, or undefined if nothing is to change. */
  choose(setting: ListedSetting): Promise<string | undefined>;
  /** Shows a new conversation and keeps the present one open. */
  newConversation(): Promise<void>;
  /** One line for each conversation of this process. */
  conversationLines(): readonly string[];
  /** Shows a diff with line numbers and colours. */
  printDiff(unifiedDiff: string): void;
  /** Returns what was set. */
  setTheme(name: string): Promise<string>;
  /** Changes between emacs and vi keys; returns what was set. */
  toggleKeys(): Promise<string>;
  /** Copies the last answer; returns what was copied. */
  copyAnswer(): string;
}

/** The context of a slash command. */
export interface SlashSurroundings {
  readonly context: CommandContext;
  readonly current: PromptConversation;
  /** Interrupts the work of the command. */
  readonly signal: AbortSignal;
  /** Asks a question; absent if nobody can answer. */
  readonly ask?: Ask | undefined;
  /** Absent in the plain prompt. */
  readonly screen?: ScreenCommands | undefined;
}

export interface SlashCall extends SlashSurroundings {
  /** The text after the command's name. */
  readonly text: string;
}

/** With --json, stdout is for events only. */
export async function printLines(context: CommandContext, lines: readonly string[]): Promise<void> {
  const text = lines.join("\n");
  await (context.flags.json ? context.tell(text) : context.terminal.stdout.write(`${text}\n`));
}
