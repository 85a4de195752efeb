import { anthropicClient } from "./anthropic-client.js";
import { AnthropicDecoder } from "./anthropic-decoder.js";
import { anthropicRequest } from "./anthropic-request.js";
import { wireAnswer } from "./wire-answer.js";
import type { WireStream } from "./wire.js";

/** The Messages API of Anthropic, and of servers that resemble it. */
export const anthropicMessages: WireStream = (connection, request, signal) =>
  wireAnswer(
    connection,
    {
      send: async (credential, idleMs, own) => {
        const client = await anthropicClient(connection, credential, idleMs);
        const body = anthropicRequest(request);
        // Not `messages.create`, which tells the console, and so the terminal of the user, about the age of models.
        return client.post("/v1/messages", { body, stream: true, signal: own }).asResponse();
      },
      decoder: (context) => new AnthropicDecoder(request.model, context),
    },
    signal,
  );
