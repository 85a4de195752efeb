import { messageText } from "../../messages/response-item.js";
import { isRealUserMessage } from "../../messages/user-message.js";
import { readRollout } from "../file/read.js";

/** What a person needs to know a conversation again. */
export interface ConversationExcerpt {
  /** How many messages of the user and the model there are, all that was ever said. */
  readonly messages: number;
  readonly firstMessage?: string;
  readonly lastAnswer?: string;
}

/** Reads a whole rollout; of a damaged one what stands before the damage. */
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
    // A list says that it is damaged.
  }
  return {
    messages,
    ...(firstMessage === undefined ? {} : { firstMessage }),
    ...(lastAnswer === undefined ? {} : { lastAnswer }),
  };
}
