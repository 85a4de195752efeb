import { onTestFinished } from "vitest";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import { startMockLlm, type MockLlm } from "../../src/mock-llm/server.js";
import type { MockReply } from "../../src/mock-llm/script.js";
import type { WireApi } from "../../src/messages/settings/config.js";
import { openManager } from "./open-conversation.js";
import { temporaryFolder } from "./temporary-folder.js";

export interface SpokenApi {
  readonly api: WireApi;
  readonly provider: "openai" | "anthropic";
  readonly path: string;
  readonly model: string;
}

export const wireApis: readonly SpokenApi[] = [
  { api: "responses", provider: "openai", path: "/v1/responses", model: "gpt-5" },
  { api: "chat", provider: "openai", path: "/v1/chat/completions", model: "gpt-4o" },
  { api: "messages", provider: "anthropic", path: "/v1/messages", model: "claude-sonnet-4-20250514" },
];

export const mockKey = "sk-mock-0123456789";

/** A strict server that accepts one key; it is closed when the test ends. */
export async function mockLlm(script?: readonly MockReply[]): Promise<MockLlm> {
  const mock = await startMockLlm({ apiKey: mockKey, ...(script === undefined ? {} : { script }) });
  onTestFinished(() => mock.close());
  return mock;
}

/** An environment with both keys, in which both SDKs' base URLs point at the server. */
export function wireEnv({ url }: MockLlm): Record<string, string> {
  return {
    OPENAI_API_KEY: mockKey,
    ANTHROPIC_API_KEY: mockKey,
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_BASE_URL: url,
  };
}

export async function wireManager(mock: MockLlm, { api, provider, model }: SpokenApi, options: ManagerOptions = {}) {
  const cwd = await temporaryFolder();
  return await openManager({ env: wireEnv(mock), config: { provider, api, model }, cwd, ...options });
}

interface Body {
  readonly input?: readonly Readonly<Record<string, unknown>>[];
  readonly messages?: readonly Readonly<Record<string, unknown>>[];
}

/** The tool outputs in a request by call id, in each API's own format. */
export function toolOutputs({ body }: { readonly body: unknown }): Record<string, unknown> {
  const { input = [], messages = [] } = body as Body;
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return Object.fromEntries([
    ...input.filter(({ type }) => type === "function_call_output").map((item) => [item["call_id"], item["output"]]),
    ...messages.filter(({ role }) => role === "tool").map((item) => [item["tool_call_id"], item["content"]]),
    ...blocks.filter(({ type }) => type === "tool_result").map((block) => [block["tool_use_id"], block["content"]]),
  ]);
}
