import { anthropicHead } from "./request-head.js";
import { AnthropicDecoder } from "./decoder.js";
import { anthropicRequest } from "./request-body.js";
import { wireAnswer } from "../wire-answer.js";
import type { WireStream } from "../wire.js";

/** The Messages API of Anthropic, and of servers that resemble it. Types, authentication and address are the SDK's. */
export const anthropicMessages: WireStream = (connection, request, signal) =>
  wireAnswer(
    connection,
    {
      head: anthropicHead,
      body: () => anthropicRequest(request),
      decoder: (context) => new AnthropicDecoder(request.model, context),
    },
    signal,
  );
