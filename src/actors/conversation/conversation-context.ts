import type { RetryPolicy } from "../../base/time/retry.js";
import type { TokenEstimates } from "../../compaction/tokens/token-estimates.js";
import type { ModelPrice } from "../../config/models/model-table.js";
import type { ContextWindow } from "../../config/models/models.js";
import type { EffectiveLimits, EffectiveCompaction } from "../../config/settings/effective-settings.js";
import type { CompactorAnswers, CompactorOp } from "../../messages/actors/compactor.js";
import type { KnownFacts } from "../../messages/model.js";
import { isSummary, type ResponseItem } from "../../messages/response-item.js";
import type { ToolSpec } from "../../messages/tools/tool.js";
import type { SessionSource } from "../../messages/turn-context.js";
import type { Provider } from "../../providers/provider.js";
import type { OpenedSandbox } from "../../sandbox/sandboxes.js";
import type { MemoryBudget } from "../../tools/exec/whole-output.js";
import { recall } from "../../tools/recall.js";
import type { SaveKnowledge, Tool } from "../../tools/tool.js";
import type { RequestGate } from "../limits/limits.js";
import type { ConversationServers } from "../mcp/conversation-servers.js";
import type { BlobStore } from "../rollout-writer/blob-store.js";
import type { Rollout } from "../rollout-writer/rollout.js";
import type { Ref } from "../runtime/actor.js";
import type { Approvals } from "./calls/approvals.js";
import type { ConversationHooks } from "./hooks/conversation-hooks.js";
import type { Permissions } from "./calls/permissions.js";
import type { ConversationCell } from "./state/live-state.js";
import type { Settings } from "./state/settings.js";
import type { StoredLines } from "./store/store.js";
import type { Publish, Recording } from "./turn/recording.js";
import type { ChangeParts } from "./turn/turn-changes.js";

/** Returns the same list for the same tools, so that its tokens are counted only once. */
const withoutRecall = new WeakMap<readonly ToolSpec[], readonly ToolSpec[]>();

/** Everything that the code of one conversation needs, besides the settings and the signal of a turn. */
export interface ConversationContext {
  readonly conversationId: string;
  readonly sessionSource: SessionSource;
  readonly retry: RetryPolicy;
  readonly gate: RequestGate;
  /** Absent when there are no MCP servers. */
  readonly servers?: ConversationServers | undefined;
  /** Absent when there are none. */
  readonly hooks?: ConversationHooks | undefined;
  /** Stores outputs that are too long for the model; absent when they are not stored. */
  readonly blobs?: BlobStore | undefined;
  /** Bounds the memory for outputs until they are stored. */
  readonly outputMemory: MemoryBudget;
  /** Tracks the file changes of a turn; absent when they are not tracked. */
  readonly changes?: ChangeParts | undefined;
  /** The environment variables of tools. */
  readonly toolEnv: Readonly<Record<string, string>>;
  /** Paths that no tool may read or write. */
  readonly privatePaths: readonly string[];
  /** The sandbox for the commands of a turn, or the reason why there is none. */
  openSandbox(settings: Settings): Promise<OpenedSandbox>;
  /** The rules about what tools may do. */
  readonly permissions: Permissions;
  /** Masks secrets in a tool's output before the model gets it. */
  maskOutput(text: string): string;
  readonly limits: EffectiveLimits;
  readonly compaction: CompactionContext;
  /** Maximum number of turns sent to the model. */
  readonly maxTurns: number;
  tool(name: string): Tool | undefined;
  /** The tool specs sent to the model. */
  toolSpecs(): readonly ToolSpec[];
  provider(settings: Settings): Provider;
  /** Returns the system prompt, as of the last refresh. */
  instructions(settings: Settings): string;
  /** Reads the files of the system prompt again; returns the notices that the user has not seen yet. */
  refreshInstructions(settings: Settings, signal: AbortSignal): Promise<readonly string[]>;
  /** Absent when knowledge is not saved. */
  saveKnowledge(settings: Settings): SaveKnowledge | undefined;
  /** Whether the user trusts the project at this root, which is a real path. */
  isTrusted(root: string): Promise<boolean>;
  /** The price of the model, if known. */
  price(settings: Settings): ModelPrice | undefined;
  /** Known facts about the model. */
  facts(settings: Settings): KnownFacts | undefined;
  /** Resolves when the lossless readers can take more events; undefined when they can now. */
  eventRoom(): Promise<void> | undefined;
  now(): Date;
  newId(): string;
  /** The live state, which outlives an incarnation of the actor. */
  readonly cell: ConversationCell;
  readonly rollout: Rollout;
  /** These belong to the incarnation. */
  readonly recording: Recording;
  readonly approvals: Approvals;
  readonly publish: Publish;
}

/** The context that an incarnation of the actor completes. */
export type StartContext = Omit<ConversationContext, "recording" | "approvals" | "publish">;

/** Returns the specs of the tools offered to the model. `recall` is offered only when there is something to recall. */
export function offeredTools(
  context: Pick<ConversationContext, "tool" | "toolSpecs">,
  history: readonly ResponseItem[],
): readonly ToolSpec[] {
  const all = context.toolSpecs();
  // An injected tool that replaces `recall` is always offered.
  if (context.tool(recall.name) !== recall || history.some(isSummary)) return all;
  const others = withoutRecall.get(all) ?? all.filter(({ name }) => name !== recall.name);
  withoutRecall.set(all, others);
  return others;
}

/** The dependencies of compaction from outside the conversation. */
export interface CompactionContext {
  readonly compactor: Ref<CompactorOp, CompactorAnswers>;
  readonly isInOtherThread: boolean;
  readonly estimates: TokenEstimates;
  readonly settings: EffectiveCompaction;
  /** The names of the built-in and injected strategies. */
  readonly strategies: readonly string[];
  window(settings: Settings): ContextWindow;
  /** The number of tokens above which the history is compacted, for a turn's model. */
  limit(settings: Settings): number;
  /** The conversation's saved lines. */
  savedLines(): StoredLines;
}
