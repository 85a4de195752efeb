/** A message in the flat form of other programs, with flags for the parts that are still missing. */
export interface FlaggedMessage {
  readonly role: string;
  readonly thinking?: boolean;
  readonly isThinkingComplete?: boolean;
  readonly toolName?: string;
  readonly toolArgs?: unknown;
  readonly toolResult?: unknown;
}

/** Whether a message may be stored: incomplete thinking and tool calls without a result may not. */
export function isMessageComplete(message: FlaggedMessage): boolean {
  switch (message.role) {
    case "user":
      return true;
    case "assistant":
      return message.thinking !== true || message.isThinkingComplete === true;
    case "tool":
      return Boolean(message.toolName) && message.toolArgs !== undefined && message.toolResult !== undefined;
    default:
      return false;
  }
}
