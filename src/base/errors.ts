/** A problem with one conversation. The id is spelled as the caller wrote it. */
export abstract class ConversationError extends Error {
  abstract readonly code: string;
  readonly conversationId: string;

  constructor(conversationId: string, message: string) {
    super(message);
    this.conversationId = conversationId;
  }
}

export class ConversationNotFoundError extends ConversationError {
  override readonly name = "ConversationNotFoundError";
  readonly code = "CONVERSATION_NOT_FOUND";

  constructor(conversationId: string) {
    super(conversationId, `Conversation ${conversationId} not found. Run: cody list`);
  }
}

export class EmptyRolloutError extends ConversationError {
  override readonly name = "EmptyRolloutError";
  readonly code = "EMPTY_ROLLOUT";

  constructor(conversationId: string) {
    super(conversationId, `Conversation ${conversationId} has no turns`);
  }
}

/** Damage before the last line of a rollout. `detail` is the parser's message and quotes at most one character. */
export class CorruptedRolloutError extends ConversationError {
  override readonly name = "CorruptedRolloutError";
  readonly code = "CORRUPTED_ROLLOUT";
  readonly line: number;
  readonly detail: string;

  constructor(conversationId: string, line: number, detail: string) {
    super(conversationId, `Conversation ${conversationId}: line ${line}: ${detail}`);
    this.line = line;
    this.detail = detail;
  }
}

/** Another process, or another manager of this process, is writing the conversation. */
export class ConversationInUseError extends ConversationError {
  override readonly name = "ConversationInUseError";
  readonly code = "CONVERSATION_IN_USE";
  readonly owner: string;

  constructor(conversationId: string, owner: string) {
    super(conversationId, `Conversation ${conversationId} is in use by ${owner}`);
    this.owner = owner;
  }
}

/** Codex may be writing the conversation, and there is no way to find out. */
export class CodexLockError extends ConversationError {
  override readonly name = "CodexLockError";
  readonly code = "CODEX_LOCK_UNAVAILABLE";
  readonly reason: string;

  constructor(conversationId: string, reason: string) {
    super(conversationId, `Conversation ${conversationId} cannot be locked against Codex: ${reason}`);
    this.reason = reason;
  }
}

/** Input of the wrong shape; the message names the place and the expected value. */
export class InvalidInputError extends Error {
  override readonly name = "InvalidInputError";
  readonly code = "INVALID_INPUT";
}

/** A file cannot be imported; `reason` never quotes the file. */
export class ImportError extends Error {
  override readonly name = "ImportError";
  readonly code = "IMPORT_FAILED";
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`Cannot import ${path}: ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}
