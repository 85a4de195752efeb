import { messageText } from "../../messages/response-item.js";
import { isRealUserMessage } from "../../base/codex/context-message.js";
import { readRollout } from "../file/read.js";

/** Facts by which a person recognizes a conversation. */
interface ConversationExcerpt {
  /** Number of all user and assistant messages ever, including those no longer in the history. */
  readonly messages: number;
  readonly firstMessage?: string;
  readonly lastAnswer?: string;
}

/** Reads a whole rollout; in a damaged one, only the part before the damage. */
export async function conversationExcerpt(path: string, conversationId: string): Promise<ConversationExcerpt> {
  let messages = 0;
  let [firstMessage, lastAnswer]: (string | undefined)[] = [];
  try {
    for await (const { line } of readRollout(path, conversationId)) {
      if (line.type !== "response_item" || line.payload.type !== "message") continue;
      const item = line.payload;
      const isUser = isRealUserMessage(item);
      if (!isUser && item.role !== "assistant") continue;
      messages += 1;
      if (isUser) firstMessage ??= messageText(item);
      else lastAnswer = messageText(item);
    }
  } catch {
    // Damage is reported by the list.
  }
  return {
    messages,
    ...(firstMessage === undefined ? {} : { firstMessage }),
    ...(lastAnswer === undefined ? {} : { lastAnswer }),
  };
}
