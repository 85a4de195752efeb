import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import type { WireApi } from "../../../src/messages/settings/config.js";
import { anthropicMessages } from "../../../src/providers/messages/stream.js";
import { anthropicRequest } from "../../../src/providers/messages/request-body.js";
import { createTransport } from "../../../src/providers/transport/node-transport.js";
import { chatBody } from "../../../src/providers/chat/request-body.js";
import { openaiChat } from "../../../src/providers/chat/stream.js";
import { responsesBody } from "../../../src/providers/responses/request-body.js";
import { openaiResponses } from "../../../src/providers/responses/stream.js";
import type { WireStream } from "../../../src/providers/transport/request-head.js";
import { serve, streaming } from "../loopback.js";
import { collect, requestOf, user } from "../requests.js";

const request = { ...requestOf([user("hello ä")], ["look"]), model: "a-model" };
const apiKey = "sk-test-0123456789";
const timeout = 300_000;

interface ApiCase {
  readonly stream: WireStream;
  /** Sends the same request with the vendor's SDK. */
  readonly send: (baseURL: string) => Promise<unknown>;
}

const apiCases: Readonly<Record<WireApi, ApiCase>> = {
  responses: {
    stream: openaiResponses,
    send: (baseURL) => openai(baseURL).responses.create(responsesBody(request)),
  },
  chat: {
    stream: openaiChat,
    send: (baseURL) => openai(baseURL).chat.completions.create(chatBody(request)),
  },
  messages: {
    stream: anthropicMessages,
    send: (baseURL) =>
      new Anthropic({ baseURL, apiKey, timeout, maxRetries: 0 }).messages.create(anthropicRequest(request)),
  },
};

const openai = (baseURL: string): OpenAI => new OpenAI({ baseURL, apiKey, timeout, maxRetries: 0 });

test.each(Object.entries(apiCases))(
  "over %s the request equals the one the vendor's SDK sends",
  async (name, { stream, send }) => {
    const { url, requests } = await serve(streaming());
    const transport = createTransport({});
    onTestFinished(() => transport.close());
    const connection = { provider: "test", api: name as WireApi, baseUrl: url, transport, credential: () => apiKey };
    await collect(stream(connection, request, new AbortController().signal));
    await send(url);
    const [ours, theirs] = requests.map(({ path, body, headers }) => ({
      path,
      body: JSON.parse(body) as unknown,
      headers: withoutFetchHeaders(headers),
    }));
    expect(ours).toEqual(theirs);
  },
);

/** The headers without those that Node's `fetch` adds. */
function withoutFetchHeaders(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own = new Set(["connection", "accept-language", "sec-fetch-mode", "accept-encoding"]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name)));
}
