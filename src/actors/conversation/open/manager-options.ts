import * as z from "zod";
import { InvalidInputError } from "../../../base/errors.js";
import { isRecord } from "../../../base/is-record.js";
import { check } from "../../../base/parse.js";
import type { RetryPolicy } from "../../../base/time/retry.js";
import { strategies as builtIn } from "../../../compaction/strategy-for.js";
import type { CompactionStrategy } from "../../../compaction/strategy.js";
import type { WrittenConfig } from "../../../config/files/written-config.js";
import { Config } from "../../../messages/settings/config.js";
import { hookEvents } from "../../../messages/hooks.js";
import type { SaveOutcome } from "../../../messages/actors/rollout-writer.js";
import { RuleLists } from "../../../messages/tools/permissions.js";
import { StartSource } from "../../../messages/turn-context.js";
import type { ModelClient } from "../../../providers/client-provider.js";
import type { Provider } from "../../../providers/provider.js";
import type { ExportFormat } from "../../../rollouts/formats/export/export-format.js";
import type { Tool } from "../../../tools/tool.js";
import type { Tokenizer } from "../../compactor/tokenizer.js";
import type { RolloutOutbox } from "../../rollout-writer/outbox.js";
import type { TurnRecorder } from "../../rollout-writer/recorder.js";
import type { Conversation } from "../handle.js";
import type { HookFunctions } from "../hooks/conversation-hooks.js";

const amount = z.custom((value) => typeof value === "number" && value >= 0, "must be 0 or more");

const callback = z.custom((value) => typeof value === "function", "must be a function");

/** More threads than this only cost memory. */
const maxThreads = 64;

const table = z.custom(isRecord, "must be an object");

const HookFunctionsOption = z.partialRecord(
  z.enum(hookEvents),
  z.array(z.strictObject({ matcher: z.string().optional(), hooks: z.array(callback) })),
);

const shape = {
  home: z.string().optional(),
  cwd: z.string().optional(),
  // Validated by its own schema, which also knows its alternative names.
  config: z.unknown().optional(),
  env: table.optional(),
  client: withMethods("sendMessage").optional(),
  recorder: withMethods("appendTurn", "readRollout", "list").optional(),
  tokenizer: withMethods("countTokens").optional(),
  compactionStrategies: z.array(withMethods("plan")).optional(),
  providers: z.array(withMethods("stream")).optional(),
  tools: z.array(withMethods("command", "run")).optional(),
  hooks: HookFunctionsOption.optional(),
  retry: z.strictObject({ maxRetries: amount, baseDelayMs: amount, maxDelayMs: amount }).optional(),
  outbox: table.optional(),
  now: callback.optional(),
  log: callback.optional(),
  rules: RuleLists.optional(),
  source: StartSource.optional(),
  idleAfter: amount.optional(),
  threads: z.union([z.literal("auto"), z.number().int().min(0).max(maxThreads)]).optional(),
  threadHeapMb: z.number().int().min(64).optional(),
  setup: z.custom((value) => value instanceof URL, "must be a URL").optional(),
  control: z.union([z.boolean(), z.literal("cli")]).optional(),
} satisfies Record<keyof ManagerOptions, z.ZodType>;

const Options = z.strictObject(shape, {
  error: ({ code, keys }) => {
    const setting = code === "unrecognized_keys" && keys.find((key) => key in Config.shape);
    return setting ? `${setting} is a setting: pass it in config` : undefined;
  },
});

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
  /** Functions that run before and after tools and turns, in the shape of Claude Code's SDK; they run in this thread. */
  readonly hooks?: HookFunctions;
  readonly retry?: RetryPolicy;
  /** A writer that is already running; it is stopped with the manager. */
  readonly outbox?: RolloutOutbox;
  readonly now?: () => Date;
  /** Receives log text: a bounded part of the stderr output of MCP servers. */
  readonly log?: (text: string) => void;
  /** Rules about what tools may do, besides those in cody's home. */
  readonly rules?: RuleLists;
  /** How this manager's conversations are started, as recorded in their first line. */
  readonly source?: StartSource;
  /**
   * A saved conversation without work for this many milliseconds goes to sleep: its file is closed and its memory is
   * released, until the next submission. Five minutes by default; with `Infinity` none sleeps.
   */
  readonly idleAfter?: number;
  /**
   * The number of worker threads that host conversations; `auto` is one for each core but one. 0 by default: all
   * conversations run in this thread. Conversations that are not saved, and all conversations of a manager with injected
   * objects (`client`, `providers`, `tools`, `hooks`, `tokenizer`, `compactionStrategies`, `recorder`, `now`), always do.
   */
  readonly threads?: "auto" | number;
  /** The memory for JavaScript objects of each such thread, in megabytes; a thread that needs more is replaced. */
  readonly threadHeapMb?: number;
  /**
   * A module that every thread with conversations loads. It may export `providers`, `tools`, `hooks` and a `tokenizer`,
   * like the options of the same names.
   */
  readonly setup?: URL;
  /**
   * Whether other processes of the same user may see the conversations and talk to them, with `cody ps`, `attach`,
   * `send` and others, over a unix socket. False by default; `cli` is for cody's own commands.
   */
  readonly control?: boolean | "cli";
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

/** Validates the options before they are used and returns them unchanged. */
export function validateOptions(options: ManagerOptions): ManagerOptions {
  check(Options, options, "manager");
  return options;
}

/** An injected object may be of any class, so only the methods that will be called are checked. */
function withMethods(...names: readonly string[]): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    const missing = names.find((name) => typeof Object(value)[name] !== "function");
    if (missing !== undefined) context.addIssue(`must be an object with ${missing}()`);
  });
}

/**
 * Returns the built-in and injected strategies, by name. Throws at once for an unknown configured strategy, not only
 * when the limit is reached.
 */
export function strategiesByName(
  { compactionStrategies = [] }: ManagerOptions,
  { compaction }: Config,
): ReadonlyMap<string, CompactionStrategy> {
  const all = [...builtIn.values(), ...compactionStrategies];
  const known = new Map(all.map((strategy) => [strategy.name, strategy]));
  const chosen = compaction?.strategy;
  if (chosen === undefined || known.has(chosen)) return known;
  const names = [...known.keys()].join(", ");
  throw new InvalidInputError(`config: compaction.strategy: unknown strategy ${chosen}. Strategies: ${names}`);
}
