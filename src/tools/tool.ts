import type * as z from "zod";
import type { ReviewDecision } from "../messages/approval.js";
import type { EventMsg } from "../messages/event.js";
import type { FileChanges } from "../messages/file-change.js";
import type { KnowledgeEntry, NewKnowledge } from "../messages/knowledge.js";
import type { SandboxMode } from "../messages/policy.js";
import type { ResponseItem } from "../messages/response-item.js";
import type { ToolOutput } from "../messages/tool.js";
import type { FileStamps } from "./files/file-stamps.js";

/** What a tool may tell while it runs. */
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

/** Saves something for later conversations of the project, or says why it was not saved. */
export type SaveKnowledge = (
  said: NewKnowledge,
) => Promise<
  | { readonly status: "saved"; readonly entry: KnowledgeEntry }
  | { readonly status: "not_saved"; readonly reason: string }
>;

/** What holds for every call of one turn: what a tool judges its arguments by before it runs. */
export interface ToolScope {
  /** The conversation's folder: relative paths start here, and nothing outside is written without full access. */
  readonly cwd: string;
  readonly sandbox: SandboxMode;
  /** Files and folders with tokens and keys: no tool of cody reads or writes them. */
  readonly privatePaths: readonly string[];
}

/** What a call would run, and where. */
export interface CommandLine {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Of a patch: what would become of the files. */
  readonly changes?: FileChanges;
}

/** Something the model has seen once and does not see any more. */
export interface EarlierItem {
  readonly item: ResponseItem;
  /** The turn it is from; the first is 1. */
  readonly turn: number;
}

/** What one call runs with. */
export interface ToolContext extends ToolScope {
  readonly callId: string;
  /** What `command` said before, and a person may have approved: anything else must not be run. */
  readonly command: CommandLine;
  /** Whether a person was asked about this very call. */
  readonly wasAsked: boolean;
  readonly turnId: string;
  /** Aborted when the turn ends early: the tool stops what it started and settles soon. */
  readonly signal: AbortSignal;
  /** The environment its processes get: never the whole of ours. */
  readonly env: Readonly<Record<string, string>>;
  /** The files the model has seen, as they were then. */
  readonly stamps: FileStamps;
  /** What was compacted away, oldest first; absent when the conversation is not saved and nobody has it. */
  readonly earlier?: () => AsyncIterable<EarlierItem>;
  /** Absent when knowledge is not saved. */
  readonly saveKnowledge?: SaveKnowledge;
  /** Takes all that the call writes, in its order, so that it can be looked up when the model gets a part of it only. */
  keep?(bytes: Uint8Array): void;
  /** Asks a person something more while the call runs, as they are asked about calls; a no where nobody may be asked. */
  ask?(question: CommandLine, reason: string): Promise<ReviewDecision>;
  /**
   * Called by tools that read files, with the real path of each file or folder whose content or names they return: the
   * turn remembers whether it has read something outside the project.
   */
  noteRead?(realPath: string): Promise<void>;
  emit(event: ToolEvent): void;
}

/** Something a model may do. */
export interface Tool<Args = unknown> {
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** Arguments as the model must give them; what does not fit is answered as an error and never runs. */
  readonly parameters: z.ZodType<Args>;
  /** Whether its only argument is a text named `input`: some models then give it as it is, and not in JSON. */
  readonly freeform?: boolean;
  /** Whether it changes nothing: such calls run at the same time, unasked, and may be run again. */
  readonly readOnly: boolean;
  /**
   * Whether its output may hold content from outside the project, such as web pages or what a command prints. True
   * unless it is false: knowledge saved later in the turn then needs approval.
   */
  readonly readsOutside?: boolean;
  /** What tells it from what it was or will be, where others can change it: an approval is for this one alone. */
  readonly revision?: string;
  /**
   * What a person is shown and asked about: the argument vector exactly as it will run, or the tool's name and what it
   * was given. Throws when the arguments cannot be run at all.
   */
  command(args: Args, scope: ToolScope): CommandLine | Promise<CommandLine>;
  /** What goes wrong in the world is an output without success; throwing is a bug, answered to the model as one. */
  run(args: Args, context: ToolContext): Promise<ToolOutput>;
}
