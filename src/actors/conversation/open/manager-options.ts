import type { CompactionStrategy } from "../../../compaction/strategy.js";
import type { SaveOutcome } from "../../../messages/rollout-command.js";
import type { StartSource } from "../../../messages/session-source.js";
import type { WrittenConfig } from "../../../messages/written-config.js";
import type { ModelClient } from "../../../providers/client-provider.js";
import type { ExportFormat } from "../../../rollouts/formats/export/export-format.js";
import type { Provider } from "../../../providers/provider.js";
import type { Tool } from "../../../tools/tool.js";
import type { Tokenizer } from "../../compactor/injected-tokenizer.js";
import type { RolloutOutbox } from "../../rollout-writer/outbox.js";
import type { Conversation } from "../handle.js";
import type { RetryPolicy } from "../turn/sampling.js";
import type { TurnRecorder } from "../../rollout-writer/turn-recorder.js";

export interface ManagerOptions {
  /** Where conversations live; `CODY_HOME` of `env`, else `~/.cody`, by default. */
  readonly home?: string;
  /** Where conversations are played unless they say otherwise; the process's working directory by default. */
  readonly cwd?: string;
  readonly config?: WrittenConfig;
  /** Directories and keys that are not configured are looked up here alone; pass `process.env` to use the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Answers instead of any provider. */
  readonly client?: ModelClient;
  /** Keeps conversations instead of files. */
  readonly recorder?: TurnRecorder;
  readonly tokenizer?: Tokenizer;
  /** Ways to compact a history besides the built-in ones, found by name; they run in this thread. */
  readonly compactionStrategies?: readonly CompactionStrategy[];
  /** Providers besides the built-in ones, found by name. */
  readonly providers?: readonly Provider[];
  /** Tools besides the built-in ones; one with the name of a built-in one takes its place. */
  readonly tools?: readonly Tool[];
  readonly retry?: RetryPolicy;
  /** A writer that has been started already; it is stopped with the manager. */
  readonly outbox?: RolloutOutbox;
  readonly now?: () => Date;
  /** Takes what is for a log: a bounded part of what MCP servers complain. */
  readonly log?: (text: string) => void;
  /** How this manager's conversations are started, as their first line says. */
  readonly source?: StartSource;
}

export interface CountTokensOptions {
  /** Whose tokens are counted; a model without a public encoding is counted with the nearest. */
  readonly model: string;
}

export interface NewConversation {
  readonly conversation: Conversation;
  readonly conversationId: string;
  /** Whether its first line is on disk. */
  readonly saved: SaveOutcome;
}

export interface RenameOptions {
  /** Take it although its owner, on another machine or in another container, cannot be proved dead. */
  readonly force?: boolean;
}

export interface ExportOptions {
  readonly format: ExportFormat;
}
