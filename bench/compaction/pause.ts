import { setTimeout } from "node:timers/promises";
import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import type { Provider } from "../../src/providers/provider.js";
import { ConversationManager } from "../support/built-package.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const summaryMs = 3_000;
const thinkingMs = 1_000;
const window = 10_000;
const base = 2_000;
const growth = 1_000;
const turns = 12;

/** The longest turn with a model that answers at once and takes three seconds to summarize. */
export async function longestPause(mode: "blocking" | "background"): Promise<number> {
  await using directory = await temporaryDirectory();
  const manager = new ConversationManager({
    home: directory.path,
    env: { XDG_RUNTIME_DIR: directory.path },
    providers: [slowSummarizer()],
    config: { contextWindow: window, compaction: { mode } },
  });
  const { conversation } = await manager.newConversation({ provider: "slow", model: "slow" });
  let longest = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const begin = performance.now();
    await conversation.processMessage(`turn ${turn}`);
    longest = Math.max(longest, performance.now() - begin);
    await setTimeout(thinkingMs);
  }
  await manager.shutdown();
  return longest;
}

function slowSummarizer(): Provider {
  return {
    name: "slow",
    stream: async function* (request, signal): AsyncGenerator<ModelEvent> {
      const summarizes = isAskedToSummarize(request);
      if (summarizes) await setTimeout(summaryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      yield { type: "item", itemId: "answer", item: assistantMessage(summarizes ? "A summary" : "An answer") };
      yield { type: "usage", usage: usageOf(tokensOf(request)) };
      yield { type: "done", finishReason: "stop" };
    },
  };
}

function isAskedToSummarize({ input }: ModelRequest): boolean {
  return JSON.stringify(input.at(-1)).includes("concise summary");
}

/** Counts a thousand tokens for every answer in the history. */
function tokensOf({ input }: ModelRequest): number {
  const answers = input.filter((item) => item.type === "message" && item.role === "assistant").length;
  return base + growth * (answers + 1);
}

function assistantMessage(text: string): ResponseItem {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

function usageOf(tokens: number) {
  return {
    input_tokens: tokens - 5,
    cached_input_tokens: 0,
    output_tokens: 5,
    reasoning_output_tokens: 0,
    total_tokens: tokens,
  };
}
