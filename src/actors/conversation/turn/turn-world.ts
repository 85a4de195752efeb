import type { ModelPrice } from "../../../config/models/model-table.js";
import type { EffectiveLimits } from "../../../config/settings/turn-limits.js";
import type { KnownFacts } from "../../../messages/model.js";
import type { SessionSource } from "../../../messages/session-source.js";
import type { ToolSpec } from "../../../messages/tool.js";
import type { Provider } from "../../../providers/provider.js";
import type { Room } from "../../../tools/exec/whole-output.js";
import type { SaveKnowledge, Tool } from "../../../tools/tool.js";
import type { RequestGate } from "../../limits/request-gate.js";
import type { ConversationServers } from "../../mcp/conversation-servers.js";
import type { BlobStore } from "../../rollout-writer/blob-store.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { Approvals } from "../calls/approvals.js";
import type { CompactionParts } from "../compaction/compaction-parts.js";
import type { ConversationCell } from "../state/cell.js";
import type { Settings } from "../state/settings.js";
import type { Publish, Recording } from "./recording.js";
import type { RetryPolicy } from "./sampling.js";
import type { ChangeParts } from "./turn-changes.js";

/** What a turn takes from outside its conversation. */
export interface TurnParts {
  readonly conversationId: string;
  readonly sessionSource: SessionSource;
  readonly retry: RetryPolicy;
  readonly gate: RequestGate;
  /** Absent when there are none. */
  readonly servers?: ConversationServers | undefined;
  /** Where outputs that are too long for the model are kept; absent when they are not. */
  readonly blobs?: BlobStore | undefined;
  /** The room for them until then. */
  readonly outputRoom: Room;
  /** How it is found out what a turn changes; absent when that is not. */
  readonly changes?: ChangeParts | undefined;
  /** The environment of tools. */
  readonly toolEnv: Readonly<Record<string, string>>;
  /** What no tool reads or writes. */
  readonly privatePaths: readonly string[];
  readonly limits: EffectiveLimits;
  readonly compaction: CompactionParts;
  /** How many turns the model sees. */
  readonly maxTurns: number;
  tool(name: string): Tool | undefined;
  /** The tools as the model is told of them. */
  toolSpecs(): readonly ToolSpec[];
  provider(settings: Settings): Provider;
  /** The system prompt, as it was when it was last looked at. */
  instructions(settings: Settings): string;
  /** Looks again what files say for the system prompt; gives what a person should know of them and was not told. */
  refreshInstructions(settings: Settings, signal: AbortSignal): Promise<readonly string[]>;
  /** Absent when nothing is to be remembered. */
  saveKnowledge(settings: Settings): SaveKnowledge | undefined;
  /** Whether the user trusts the project at this root, a real path. */
  isTrusted(root: string): Promise<boolean>;
  /** What a model costs, where it is known. */
  price(settings: Settings): ModelPrice | undefined;
  /** What is known about a model. */
  facts(settings: Settings): KnownFacts | undefined;
  countTokens(text: string): number;
  /** Resolves when the readers that must not miss an event can take more; undefined when they can now. */
  eventRoom(): Promise<void> | undefined;
  now(): Date;
  newId(): string;
}

/** What a turn takes from the incarnation that plays it. */
export interface TurnWorld {
  readonly parts: TurnParts;
  readonly cell: ConversationCell;
  readonly rollout: Rollout;
  readonly recording: Recording;
  readonly approvals: Approvals;
  readonly publish: Publish;
}
