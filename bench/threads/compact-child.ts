// A child process of the benchmark `compact-large`: compacts a resumed conversation while others stream, or does the
// same reading, parsing and posting with plain Node.
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { ModelEvent } from "../../src/messages/model.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import type { Provider } from "../../src/providers/provider.js";
import { conversationId } from "../resume/rollout-kind.js";
import { loopDelay } from "../support/loop-delay.js";

/** The cost of one compaction, in milliseconds. CPU is that of the whole process without the streaming ones. */
export interface CompactMeasurement {
  readonly ms: number;
  readonly cpuMs: number;
  readonly idle: { readonly p99: number; readonly max: number };
  readonly busy: { readonly p99: number; readonly max: number };
}

const streaming = 20;
const paceMs = 10;
const idleMs = 1_500;
const model = "gpt-4.1";

/** `tokenizer`: by a provider in this process, with an injected tokenizer. */
export type CompactedBy = "server" | "provider" | "tokenizer";

const [what = "", path = "", url = ""] = process.argv.slice(2);

// Each mode imports only the modules it needs.
if (what === "bare") await bare();
else await compact(what as CompactedBy);
process.disconnect();

async function compact(by: CompactedBy): Promise<void> {
  const { ConversationManager } = await import("../support/built-package.js");
  const { pacedProvider } = await import("../support/paced-provider.js");
  const manager = new ConversationManager({
    home: path,
    env: { XDG_RUNTIME_DIR: path, OPENAI_API_KEY: "sk-bench" },
    providers: [pacedProvider(paceMs), instantProvider()],
    ...(by === "tokenizer" && { tokenizer: { countTokens: (text: string) => countTokens(text) } }),
  });
  const chosen =
    by === "server" ? { provider: "openai", api: "responses", baseUrl: `${url}/v1` } : { provider: "instant" };
  const conversation = await manager.resumeConversation(conversationId, { ...chosen, model } as never);
  const over = new AbortController();
  const talks = Array.from({ length: streaming }, async () => {
    const other = await manager.newConversation({ provider: "paced", model: "gpt-5" });
    while (!over.signal.aborted) await other.conversation.processMessage("go on");
  });
  await setTimeout(idleMs);
  const before = process.cpuUsage();
  const idle = await loopDelay(() => setTimeout(idleMs));
  const idleCpu = cpuMs(before) / idleMs;
  const [begin, cpu] = [performance.now(), process.cpuUsage()];
  let ms = 0;
  const busy = await loopDelay(async () => {
    const outcome = await conversation.compact();
    ms = performance.now() - begin;
    if (outcome.status !== "compacted") throw new Error(JSON.stringify(outcome));
  });
  send({ ms, cpuMs: cpuMs(cpu) - idleCpu * ms, idle, busy });
  over.abort();
  await Promise.all(talks);
  await manager.shutdown();
}

async function bare(): Promise<void> {
  const [begin, cpu] = [performance.now(), process.cpuUsage()];
  let ms = 0;
  const busy = await loopDelay(async () => {
    const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
    const items = lines
      .map((line) => JSON.parse(line) as { readonly type: string; readonly payload: ResponseItem })
      .flatMap(({ type, payload }) => (type === "response_item" ? describe(payload) : []));
    const body = JSON.stringify({ model, input: [...items, message("user", "Write a concise summary")], stream: true });
    const response = await fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-bench" },
      body,
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    await response.text();
    ms = performance.now() - begin;
  });
  send({ ms, cpuMs: cpuMs(cpu), idle: busy, busy });
}

function describe(item: ResponseItem): object[] {
  if (item.type === "message")
    return [message(item.role, item.content.map((part) => ("text" in part ? part.text : "")).join(""))];
  if (item.type === "function_call")
    return [message("assistant", `[called ${item.name}] ${item.arguments.slice(0, 8_000)}`)];
  if (item.type === "function_call_output")
    return [message("user", `[result] ${JSON.stringify(item.output).slice(0, 8_000)}`)];
  return [];
}

function message(role: string, text: string): object {
  return { type: "message", role, content: [{ type: role === "assistant" ? "output_text" : "input_text", text }] };
}

function cpuMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function send(measurement: CompactMeasurement): void {
  process.send?.(measurement);
}

/** A model in this process that summarizes at once. */
function instantProvider(): Provider {
  return { name: "instant", stream: answer };
}

async function* answer(): AsyncGenerator<ModelEvent> {
  const text = "The summary of it all. ".repeat(100);
  yield {
    type: "item",
    itemId: "answer",
    item: { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
  };
  yield { type: "done", finishReason: "stop" };
}
