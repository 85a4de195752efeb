import { openaiClient } from "./openai-client.js";
import { ResponsesDecoder } from "./openai-responses-decoder.js";
import { responsesBody } from "./openai-responses-body.js";
import { wireAnswer } from "./wire-answer.js";
import type { WireStream } from "./wire.js";

/** OpenAI's Responses API, and servers that speak it. Types, authentication and the request are the SDK's. */
export const openaiResponses: WireStream = (connection, request, signal) =>
  wireAnswer(
    connection,
    {
      send: async (credential, idleMs, own) => {
        const client = await openaiClient(connection, credential, idleMs);
        return client.responses.create(responsesBody(request), { signal: own }).asResponse();
      },
      decoder: (context) => new ResponsesDecoder(request, context),
    },
    signal,
  );
