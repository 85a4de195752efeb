import type { BigIntStats } from "node:fs";
import type * as z from "zod";
import type { ReviewDecision } from "../messages/tools/approval.js";
import type { EventMsg } from "../messages/event.js";
import type { FileChanges } from "../messages/tools/file-change.js";
import type { KnowledgeEntry, NewKnowledge } from "../messages/tools/knowledge.js";
import type { SandboxMode } from "../messages/tools/policy.js";
import type { ResponseItem } from "../messages/response-item.js";
import type { ToolOutput } from "../messages/tools/tool.js";
import type { CommandSandbox } from "./exec/command-sandbox.js";
import type { FileStamps } from "./files/file-stamps.js";

/** The events that a tool may emit while it runs. */
export type ToolEvent = Extract<
  EventMsg,
  {
    type:
      | "exec_command_begin"
      | "exec_command_output_delta"
      | "exec_command_end"
      | "knowledge_saved"
      | "mcp_tool_call_begin"
      | "mcp_tool_call_end"
      | "patch_apply_begin"
      | "patch_apply_end"
      | "plan_update";
  }
>;

/** Saves something for later conversations of the project, or returns the reason why it was not saved. */
export type SaveKnowledge = (
  entry: NewKnowledge,
) => Promise<
  | { readonly status: "saved"; readonly entry: KnowledgeEntry }
  | { readonly status: "not_saved"; readonly reason: string }
>;

/** The same for every call of one turn; a tool judges its arguments by it before it runs. */
export interface ToolScope {
  /** The conversation's folder: relative paths start here, and nothing outside is written without full access. */
  readonly cwd: string;
  readonly sandbox: SandboxMode;
  /** Files and folders with tokens and keys: none of cody's tools reads or writes them. */
  readonly privatePaths: readonly string[];
  /** Absent where everything else may be read. */
  readonly reading?: Reading;
  /** Whether the policy judges the paths that a call writes; otherwise nothing outside the folder is written. */
  readonly isJudged?: boolean;
}

/** The command that a call would run, and its folder. */
export interface CommandLine {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** For a patch: the resulting changes to files. */
  readonly changes?: FileChanges;
  /** The access that the policy judges; a call without it is judged by the name of its tool. */
  readonly access?: Access;
}

/** A process that a call starts, in the sandbox if there is one. */
export interface CommandAccess {
  readonly type: "command";
  /** The model asks to run it outside the sandbox, and may say why. */
  readonly isEscalated: boolean;
  readonly justification?: string;
}

/** Files that a call reads or writes itself. Absolute paths; those of writes are real paths. */
export interface PathAccess {
  readonly type: "read" | "write";
  readonly paths: readonly string[];
}

export type Access = CommandAccess | PathAccess;

/** Decides about files at the moment a tool opens them. */
export interface Reading {
  /** Returns the reason why a file must not be read; undefined if it may. */
  problem(file: FoundFile): Promise<string | undefined>;
  /** The files that a search in a folder must leave out. */
  hiddenIn(start: string): Promise<HiddenFiles>;
}

export interface HiddenFiles {
  readonly paths: readonly string[];
  readonly globs: readonly string[];
}

/** A file as it was found: links were followed, and its inode identifies it. */
export interface FoundFile {
  readonly realPath: string;
  readonly stats: Pick<BigIntStats, "dev" | "ino" | "nlink">;
}

/** An item that the model has seen earlier but no longer sees. */
export interface EarlierItem {
  readonly item: ResponseItem;
  /** The number of its turn; the first is 1. */
  readonly turn: number;
}

/** The context of one call. */
export interface ToolContext extends ToolScope {
  readonly callId: string;
  /** The result of `command`, which a person may have approved: nothing else must be run. */
  readonly command: CommandLine;
  /** Whether a person was asked about this particular call. */
  readonly wasAsked: boolean;
  /** The sandbox in which the call's commands must run; absent if they run outside, with the user's rights. */
  readonly commandSandbox?: CommandSandbox;
  readonly turnId: string;
  /** Aborted when the turn ends early: the tool must stop everything it started and settle soon. */
  readonly signal: AbortSignal;
  /** The environment for its processes: never the whole of ours. */
  readonly env: Readonly<Record<string, string>>;
  /** The files that the model has seen, in the state it saw. */
  readonly stamps: FileStamps;
  /** The compacted items, oldest first; absent if the conversation is not saved. */
  readonly earlier?: () => AsyncIterable<EarlierItem>;
  /** Absent when knowledge is not saved. */
  readonly saveKnowledge?: SaveKnowledge;
  /** Receives the call's complete output in order, so that it can be looked up if the model gets only a part of it. */
  keep?(bytes: Uint8Array): void;
  /**
   * Asks a person another question while the call runs, like an approval request; denied if the policy allows no
   * questions.
   */
  ask?(question: CommandLine, reason: string): Promise<ReviewDecision>;
  /**
   * Called by tools that read files, with the real path of each file or folder whose content or names they return: the
   * turn remembers whether it has read something outside the project.
   */
  noteRead?(realPath: string): Promise<void>;
  emit(event: ToolEvent): void;
}

/** An action that a model can request. */
export interface Tool<Args = unknown> {
  readonly name: string;
  /** Written for the model. */
  readonly description: string;
  /** The schema of the arguments. Invalid arguments are answered with an error, and the call does not run. */
  readonly parameters: z.ZodType<Args>;
  /** Whether its only argument is a text named `input`: some models then pass it as plain text instead of JSON. */
  readonly freeform?: boolean;
  /** Whether it changes nothing: such calls run concurrently, without approval, and may be repeated. */
  readonly readOnly: boolean;
  /**
   * Whether its output may contain content from outside the project, such as web pages or a command's output. Defaults
   * to true: knowledge saved later in the turn then needs approval.
   */
  readonly readsOutside?: boolean;
  /** Identifies this version of a tool that others can change: an approval is valid for this version only. */
  readonly revision?: string;
  /**
   * The command shown to a person for approval: the argument vector exactly as it will run, or the tool's name and its
   * arguments. Throws if the arguments cannot be run at all.
   */
  command(args: Args, scope: ToolScope): CommandLine | Promise<CommandLine>;
  /** Expected failures are outputs without success. A thrown error is a bug and is reported to the model as one. */
  run(args: Args, context: ToolContext): Promise<ToolOutput>;
}
