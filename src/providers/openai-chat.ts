import { chatBody } from "./openai-chat-body.js";
import { ChatDecoder } from "./openai-chat-decoder.js";
import { openaiClient } from "./openai-client.js";
import { wireAnswer } from "./wire-answer.js";
import type { WireStream } from "./wire.js";

/** OpenAI's Chat Completions API, which most other servers speak too. The request and its types are the SDK's. */
export const openaiChat: WireStream = (connection, request, signal) =>
  wireAnswer(
    connection,
    {
      send: async (credential, idleMs, own) => {
        const client = await openaiClient(connection, credential, idleMs);
        return client.chat.completions.create(chatBody(request), { signal: own }).asResponse();
      },
      decoder: (context) => new ChatDecoder(request, context),
    },
    signal,
  );
