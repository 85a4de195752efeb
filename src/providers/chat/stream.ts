import { chatBody } from "./request-body.js";
import { ChatDecoder } from "./decoder.js";
import { openaiHead } from "../openai-client.js";
import { wireAnswer } from "../wire-answer.js";
import type { WireStream } from "../transport/request-head.js";

export const head = openaiHead("/chat/completions");

/**
 * OpenAI's Chat Completions API, which most other servers speak too. Uses the SDK's types, authentication and address.
 */
export const openaiChat: WireStream = (connection, request, signal) =>
  wireAnswer(
    connection,
    {
      head,
      body: () => chatBody(request),
      decoder: (context) => new ChatDecoder(request, context),
    },
    signal,
  );
