import { onTestFinished } from "vitest";
import { type MockLlm, type MockLlmOptions, startMockLlm } from "../../src/mock-llm/server.js";

/** A mock server that is closed when the test ends. */
export async function openMock(options: MockLlmOptions = {}): Promise<MockLlm> {
  const mock = await startMockLlm(options);
  onTestFinished(() => mock.close());
  return mock;
}

export const paths = {
  responses: "/v1/responses",
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
} as const;
export type ApiName = keyof typeof paths;
export const apis = ["responses", "chat", "messages"] as const;

export const terminal = {
  responses: "event: response.completed\n",
  chat: "data: [DONE]\n",
  messages: "event: message_stop\n",
} satisfies Record<ApiName, string>;

/** The smallest valid request of an API. */
export function hello(api: ApiName): Record<string, unknown> {
  const model = "mock-1";
  const messages = [{ role: "user", content: "hello" }];
  if (api === "responses") return { model, input: "hello" };
  return api === "chat" ? { model, messages } : { model, messages, max_tokens: 100 };
}

export function post(
  { url }: Pick<MockLlm, "url">,
  api: ApiName,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}${paths[api]}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** The parsed data of a stream's events; data that is not JSON stays text. */
export function dataOf(text: string): unknown[] {
  return text.split("\n").flatMap((line) => {
    if (!line.startsWith("data: ")) return [];
    const data = line.slice("data: ".length);
    return [data === "[DONE]" ? data : JSON.parse(data)];
  });
}
