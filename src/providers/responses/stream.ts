import { openaiHead } from "../openai-client.js";
import { ResponsesDecoder } from "./decoder.js";
import { responsesBody } from "./request-body.js";
import { wireAnswer } from "../wire-answer.js";
import type { WireStream } from "../transport/request-head.js";

export const head = openaiHead("/responses");

/** OpenAI's Responses API, and servers that speak it. Uses the SDK's types, authentication and address. */
export const openaiResponses: WireStream = (connection, request, signal) =>
  wireAnswer(
    connection,
    {
      head,
      body: () => responsesBody(request),
      decoder: (context) => new ResponsesDecoder(request, context),
    },
    signal,
  );
