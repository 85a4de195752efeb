/** `cody/rollouts`: saved conversations without a manager: reading, listing, recording, cleaning up. */
export {
  ConversationPersistence,
  type PersistenceOptions,
} from "../actors/conversation/saved/conversation-persistence.js";
export { type RetentionReport, type RetentionRun, runRetention } from "../actors/retention/run-retention.js";
export { type DeleteOptions, TrashBin, type TrashBinParts } from "../actors/retention/trash-bin.js";
export type { RolloutOutbox } from "../actors/rollout-writer/outbox.js";
export { type RecorderOptions, RolloutRecorder } from "../actors/rollout-writer/recorder.js";
export type { CompactionRecord, RecordedCompaction, TurnRecorder } from "../actors/rollout-writer/recorder.js";
export { conversationPlaces, type ConversationPlaces } from "../config/paths.js";
export type { RetentionSettings } from "../config/settings/effective-settings.js";
export type { CleanupResult, ConversationDeleteResult, TrashReason } from "../messages/cleanup.js";
export { type FlaggedMessage, isMessageComplete } from "../rollouts/history-messages.js";
export type { CoreMessage } from "../rollouts/history-messages.js";
export { type ExportFormat, exportFormats } from "../rollouts/formats/export/export-format.js";
export { type ImportFormat, importFormats } from "../rollouts/formats/import/source.js";
export type { ConversationMetadata } from "../rollouts/list/list.js";
export {
  listRollouts,
  type ListRolloutsOptions,
  type RolloutItem,
  type RolloutPage,
} from "../rollouts/list/list-rollouts.js";
export { getRolloutHistory, type RolloutHistory } from "../rollouts/file/read.js";
export type { Trashed } from "../rollouts/trash/trash-files.js";
export type { RolloutTurn } from "../rollouts/turns.js";
