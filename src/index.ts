// The manager, the conversation handle, and the types in their signatures.
export { ConversationManager, type ManagerStats } from "./manager.js";
export type { BatchOptions } from "./batch/run-batch.js";
export { BatchResult, BatchTask } from "./messages/batch.js";
export type { Tokenizer } from "./actors/compactor/tokenizer.js";
export type { RunnableCallItem as CallItem } from "./actors/conversation/calls/call-items.js";
export type { Approve, Conversation, InputOptions, SubmittedInput } from "./actors/conversation/handle.js";
export type {
  CountTokensOptions,
  ExportOptions,
  ManagerOptions,
  NewConversation,
  RenameOptions,
} from "./actors/conversation/open/manager-options.js";
export { newConversationId } from "./actors/conversation/open/open-conversation.js";
export type {
  FailedImport,
  ImportedConversation,
  ImportHere,
  ImportOptions,
  ImportOutcome,
  ImportResult,
  KnownImport,
  SkippedFile,
} from "./actors/conversation/saved/import-conversation.js";
export type {
  AnswerApprovalOptions,
  ApprovalAnswered,
  ListApprovalsOptions,
  PendingApproval,
} from "./actors/conversation/saved/pending-approvals.js";
export type { HookFunctions } from "./actors/conversation/hooks/conversation-hooks.js";
export type { HookFunction } from "./actors/conversation/hooks/run-hook.js";
export type { HookEvent, HookInput, HookOutput, HooksConfig } from "./messages/hooks.js";
export type { CompletedTurn, ConversationHistory } from "./actors/conversation/handle.js";
export type { TurnView as ActiveTurn } from "./actors/conversation/mirror.js";
export type { Settings, TurnStatus, UndoReport } from "./messages/actors/conversation.js";
export type { RetryPolicy } from "./base/time/retry.js";
export type { RolloutOutbox } from "./actors/rollout-writer/outbox.js";
export type { CompactionRecord, RecordedCompaction, TurnRecorder } from "./actors/rollout-writer/recorder.js";
export type { CompactionStrategy } from "./compaction/strategy.js";
export type { ExportFormat } from "./rollouts/formats/export/export-format.js";
export type { ExportedConversation } from "./rollouts/formats/export/export-lines.js";
export type { ImportFormat } from "./rollouts/formats/import/source.js";
export type { DamagedLine, LossKind, LossReport } from "./rollouts/formats/import/source.js";
export type { Attachment, HistoryMessage, ToolCallRecord } from "./rollouts/history-messages.js";
export type { ConversationMetadata } from "./rollouts/list/list.js";

// Tools, providers and models.
export { costOf, knownModels, type ModelEntries, type ResolvedModel, resolveModel } from "./config/models/models.js";
export type { Ability, ModelFacts, ModelPrice, NamedModel } from "./config/models/model-table.js";
export type { ClientMessage, ClientRequest, ModelClient } from "./providers/client-provider.js";
export type { Provider } from "./providers/provider.js";
export { defineTool, type ToolDefinition } from "./tools/define-tool.js";
export type { SaveKnowledge, Tool, ToolContext, ToolEvent, ToolScope } from "./tools/tool.js";

// Functions and classes under the names of the API documents; `cody/compaction` and `cody/rollouts` have their relatives.
export { type CompactContext, getSummary, runCompactTask } from "./actors/conversation/compaction/run-compact-task.js";
export { appendKnowledge, readKnowledge, readRecentKnowledge } from "./actors/knowledge/knowledge-file.js";
export {
  ConversationPersistence,
  type PersistenceOptions,
} from "./actors/conversation/saved/conversation-persistence.js";
export { type RecorderOptions, RolloutRecorder } from "./actors/rollout-writer/recorder.js";
export type { ChangedFile, FileMode, FileVersion } from "./changes/changed-file.js";
export { type TrackedFile, TurnDiffTracker, type TurnDiffOptions } from "./changes/turn-diff-tracker.js";
export { buildCompactedHistory } from "./compaction/summary/summary-text.js";
export { collectUserMessages } from "./compaction/item-kinds.js";
export { COMPACT_THRESHOLD, COMPACT_USER_MESSAGE_MAX_TOKENS } from "./compaction/constants.js";
export { type CutPointResult, findCutPoint } from "./compaction/cut/choose-cut.js";
export { selectRecentMessages } from "./compaction/cut/cut-item.js";
export { truncateMiddle } from "./compaction/cut/cut-item.js";
export { needsCompaction, shouldCompact } from "./compaction/tokens/compaction-threshold.js";
export {
  type CompactionDetails,
  extractFileOperations,
  formatFileOperations,
} from "./compaction/summary/file-operations.js";
export { estimateTokens } from "./compaction/tokens/estimate-tokens.js";
export { buildKnowledgeSection } from "./context/knowledge.js";
export { knowledgeScore, rankKnowledge } from "./context/knowledge.js";
export type { CoreMessage } from "./rollouts/history-messages.js";
export {
  listRollouts,
  type ListRolloutsOptions,
  type RolloutItem,
  type RolloutPage,
} from "./rollouts/list/list-rollouts.js";
export { getRolloutHistory, type RolloutHistory } from "./rollouts/file/read.js";
export type { RolloutTurn } from "./rollouts/turns.js";

// Errors, and the schemas of everything that is submitted, published, configured or saved.
export * from "./base/errors.js";
export * from "./messages/tools/approval.js";
export type { CleanupResult, ConversationDeleteResult } from "./messages/cleanup.js";
export * from "./messages/compaction.js";
/** Two types under the names that the API documents use. */
export type { CompactionConfig as CompactConfig } from "./messages/settings/config.js";
export type { Compacted as CompactedItem } from "./messages/rollout-line.js";
export {
  ApiKey,
  AuthMethod,
  BaseUrl,
  CompactionConfig,
  Config,
  KnowledgeConfig,
  Layout,
  LoginEntry,
  ModelEntry,
  ProviderEntry,
  ProviderName,
  RequestLimits,
  SensitivePattern,
  TurnLimits,
  WireApi,
} from "./messages/settings/config.js";
export type { ConversationConfig, ForkConfig, ResumeConfig } from "./messages/settings/conversation-config.js";
export { bareId, isConversationId, shownId } from "./base/text/conversation-id.js";
export * from "./messages/tools/diff.js";
export { ErrorInfo, Event, EventMsg, PersistedEventMsg } from "./messages/event.js";
export * from "./messages/failure.js";
export { FailureError } from "./messages/failure-error.js";
export * from "./messages/tools/file-change.js";
export * from "./messages/tools/knowledge.js";
export * from "./messages/model.js";
export { OutputSchema } from "./messages/output-schema.js";
export * from "./messages/tools/plan.js";
export * from "./messages/tools/policy.js";
export {
  ContentPart,
  FunctionCallItem,
  FunctionCallOutputItem,
  ItemOrigin,
  MessageItem,
  ReasoningItem,
  ResponseItem,
  ToolOutputContent,
  messageText,
  type PlainItem,
} from "./messages/response-item.js";
export { OpenOutcome, SaveOutcome } from "./messages/actors/rollout-writer.js";
export * from "./messages/rollout-line.js";
export * from "./messages/submission.js";
export * from "./messages/token-usage.js";
export * from "./messages/tools/tool.js";
export * from "./messages/turn-context.js";
export { type InlineInput, UserInput } from "./messages/user-input.js";
export type { WrittenConfig } from "./config/files/written-config.js";
export { version } from "./version.js";

export * from "./public/deprecated.js";
