export {
  ConversationManager,
  newConversationId,
  type ManagerOptions,
  type NewConversation,
  type ResumeConfig,
  type Tokenizer,
} from "./cody.js";
export type { ActiveTurn, TurnStatus } from "./actors/conversation/active-turn.js";
export type { Conversation } from "./actors/conversation/handle.js";
export type { PlainItem } from "./actors/conversation/plain-items.js";
export type { ConversationConfig } from "./actors/conversation/resolve-settings.js";
export type { RetryPolicy } from "./actors/conversation/sampling.js";
export type { Settings } from "./actors/conversation/settings.js";
export type { ConversationMetadata } from "./actors/conversation/store.js";
export { RolloutRecorder, type TurnRecorder } from "./actors/rollout-writer/recorder.js";
export { estimateTokens } from "./compaction/estimate-tokens.js";
export type { ModelClient, ClientRequest } from "./providers/client-provider.js";
export { offlineProvider } from "./providers/offline.js";
export type { Provider } from "./providers/provider.js";
export { isMessageComplete } from "./rollouts/complete-message.js";
export type { RolloutTurn } from "./rollouts/turns.js";
export * from "./messages/approval.js";
export * from "./messages/config.js";
export { bareId, isConversationId, shownId } from "./messages/conversation-id.js";
export * from "./messages/errors.js";
export * from "./messages/event.js";
export * from "./messages/failure.js";
export * from "./messages/model.js";
export * from "./messages/policy.js";
export * from "./messages/response-item.js";
export { OpenOutcome, SaveOutcome } from "./messages/rollout-command.js";
export * from "./messages/rollout-line.js";
export * from "./messages/session-source.js";
export * from "./messages/submission.js";
export * from "./messages/token-usage.js";
export * from "./messages/tool.js";
export * from "./messages/turn-context.js";
export { type InlineInput, UserInput } from "./messages/user-input.js";
export { version } from "./version.js";
