import type { CompactionPreview, ContextUsage } from "../../messages/compaction-report.js";
import type { Event } from "../../messages/event.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { SaveOutcome } from "../../messages/rollout-command.js";
import type { SummaryOutcome } from "../compactor/summarizer.js";
import type { ConversationServers } from "../mcp/conversation-servers.js";
import type { Rollout } from "../rollout-writer/rollout.js";
import type { Ref } from "../runtime/actor.js";
import type { EventQueue } from "../runtime/event-queue.js";
import type { ConversationCell } from "./state/cell.js";
import type { ConversationAnswers, ConversationOp } from "./conversation-op.js";
import type { Settings } from "./state/settings.js";

/** What a handle is made of; only the manager makes one. */
export interface HandleParts {
  readonly id: string;
  readonly rollout: Rollout;
  readonly notice: string | undefined;
  readonly cell: ConversationCell;
  readonly ref: Ref<ConversationOp, ConversationAnswers>;
  readonly queue: EventQueue<Event>;
  readonly maxTurns: number;
  readonly servers: ConversationServers | undefined;
  countTokens(text: string): number;
  instructions(settings: Settings): string;
  warn(message: string): void;
  previewCompaction(strategy: string | undefined): Promise<CompactionPreview>;
  contextUsage(): Promise<ContextUsage>;
  summarize(items: readonly ResponseItem[]): Promise<SummaryOutcome>;
  /** Puts its new name where lists look for it. */
  onRenamed(): Promise<SaveOutcome>;
  /** Puts it where lists look for it whether it is pinned. */
  onPinned(): Promise<SaveOutcome>;
  onShutdown(): Promise<void>;
  ending(): Promise<void> | undefined;
}
