import type { WireApi } from "../../messages/config.js";
import type { MessageItem } from "../../messages/response-item.js";

/** The differences between the wire APIs in the input they accept. */
export interface ApiRules {
  /** Whether custom tool calls exist, for models that support them; elsewhere they become function calls. */
  readonly customTools: boolean;
  /** Whether a web search by the provider is an item; elsewhere it becomes a sentence of the assistant. */
  readonly webSearches: boolean;
  /** Whether a tool output may contain images. */
  readonly imagesInOutputs: boolean;
  readonly maxCallIdChars: number;
  /** The role that replaces each of ours. */
  readonly roles: Readonly<Record<MessageItem["role"], MessageItem["role"]>>;
  /** Whether the first and the last message must be the user's. */
  readonly userAtBothEnds: boolean;
}

export const apiRules = {
  responses: {
    customTools: true,
    webSearches: true,
    imagesInOutputs: true,
    maxCallIdChars: 64,
    roles: { user: "user", assistant: "assistant", developer: "developer", system: "system" },
    userAtBothEnds: false,
  },
  chat: {
    customTools: false,
    webSearches: false,
    imagesInOutputs: false,
    maxCallIdChars: 40,
    // Servers that only resemble OpenAI's do not know the developer role.
    roles: { user: "user", assistant: "assistant", developer: "system", system: "system" },
    userAtBothEnds: false,
  },
  messages: {
    customTools: false,
    webSearches: false,
    imagesInOutputs: true,
    maxCallIdChars: 64,
    roles: { user: "user", assistant: "assistant", developer: "user", system: "user" },
    userAtBothEnds: true,
  },
} satisfies Record<WireApi, ApiRules>;
