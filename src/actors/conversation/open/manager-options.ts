import type { CompactionStrategy } from "../../../compaction/strategy.js";
import type { SaveOutcome } from "../../../messages/rollout-command.js";
import type { WrittenConfig } from "../../../config/files/written-config.js";
import type { ModelClient } from "../../../providers/client-provider.js";
import type { ExportFormat } from "../../../rollouts/formats/export/export-format.js";
import type { Provider } from "../../../providers/provider.js";
import type { Tool } from "../../../tools/tool.js";
import type { Tokenizer } from "../../compactor/injected-tokenizer.js";
import type { RolloutOutbox } from "../../rollout-writer/outbox.js";
import type { Conversation } from "../handle.js";
import type { RetryPolicy } from "../turn/sampling.js";
import type { TurnRecorder } from "../../rollout-writer/turn-recorder.js";
import type { StartSource } from "../../../messages/turn-context.js";

export interface ManagerOptions {
  /** cody's home directory; by default `CODY_HOME` of `env`, else `~/.cody`. */
  readonly home?: string;
  /** The default working directory of conversations; that of the process by default. */
  readonly cwd?: string;
  readonly config?: WrittenConfig;
  /**
   * The only environment in which unconfigured directories and keys are looked up; pass `process.env` to use the
   * process's.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Replaces all providers. */
  readonly client?: ModelClient;
  /** Stores conversations instead of files. */
  readonly recorder?: TurnRecorder;
  readonly tokenizer?: Tokenizer;
  /** Compaction strategies besides the built-in ones, selected by name; they run in this thread. */
  readonly compactionStrategies?: readonly CompactionStrategy[];
  /** Providers besides the built-in ones, selected by name. */
  readonly providers?: readonly Provider[];
  /** Tools besides the built-in ones; one with the name of a built-in tool replaces it. */
  readonly tools?: readonly Tool[];
  readonly retry?: RetryPolicy;
  /** A writer that is already running; it is stopped with the manager. */
  readonly outbox?: RolloutOutbox;
  readonly now?: () => Date;
  /** Receives log text: a bounded part of the stderr output of MCP servers. */
  readonly log?: (text: string) => void;
  /** How this manager's conversations are started, as recorded in their first line. */
  readonly source?: StartSource;
}

export interface CountTokensOptions {
  /** The model whose tokens are counted; one without a public encoding is counted with the nearest. */
  readonly model: string;
}

export interface NewConversation {
  readonly conversation: Conversation;
  readonly conversationId: string;
  /** Whether its first line is on disk. */
  readonly saved: SaveOutcome;
}

export interface RenameOptions {
  /** Take the lock although its owner, on another machine or in another container, cannot be proved dead. */
  readonly force?: boolean;
}

export interface ExportOptions {
  readonly format: ExportFormat;
}
