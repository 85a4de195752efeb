import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { cutRuns } from "../../src/compaction/tokens/exact-tokens.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { createTransport } from "../../src/providers/transport/node-transport.js";
import type { Provider } from "../../src/providers/provider.js";
import { wireProvider } from "../../src/providers/wire-provider.js";
import { ConversationManager } from "../support/built-package.js";
import { variedText } from "../support/varied-text.js";

type Conversation = Awaited<ReturnType<ConversationManager["newConversation"]>>["conversation"];

const histories = 10;
const itemChars = 4 * 1024;
const historyChars = 1024 * 1024;
const model = "gpt-4.1";

export interface Compacted {
  readonly manager: ConversationManager;
  readonly conversations: readonly Conversation[];
  /** Fills each history with a new megabyte. */
  refill(): Promise<void>;
}

export interface CompactedOptions {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
  readonly where: "pools" | "main thread";
}

/** Opens conversations with long histories; an injected tokenizer and provider make them run in the main thread. */
export async function openCompacted({ home, env, url, where }: CompactedOptions): Promise<Compacted> {
  const baseUrl = `${url}/v1`;
  const keys = { ...env, OPENAI_API_KEY: "sk-bench" };
  const injected = where === "pools" ? {} : { tokenizer: { countTokens: countHere }, providers: [wireHere(baseUrl)] };
  const manager = new ConversationManager({ home: join(home, where.replace(" ", "-")), env: keys, ...injected });
  const chosen = where === "pools" ? { provider: "openai", api: "responses", baseUrl } : { provider: "here" };
  const conversations: Conversation[] = [];
  for (let index = 0; index < histories; index += 1) {
    conversations.push((await manager.newConversation({ ...chosen, model } as never)).conversation);
  }
  let generation = 0;
  return {
    manager,
    conversations,
    refill: async () => {
      generation += 1;
      for (const [index, conversation] of conversations.entries()) {
        await conversation.replaceHistory(history(generation * histories + index));
      }
    },
  };
}

export async function compactAll({ conversations }: Compacted): Promise<void> {
  const outcomes = await Promise.all(conversations.map((conversation) => conversation.compact()));
  const failed = outcomes.find(({ status }) => status !== "compacted");
  if (failed !== undefined) throw new Error(`a history was not compacted: ${JSON.stringify(failed)}`);
}

/** New text for every seed, because token counts are cached. */
function history(seed: number): ResponseItem[] {
  const text = variedText(seed, historyChars);
  return Array.from({ length: historyChars / itemChars }, (_, index): ResponseItem => {
    const piece = text.slice(index * itemChars, (index + 1) * itemChars);
    return index % 2 === 0
      ? { type: "message", role: "user", content: [{ type: "input_text", text: piece }] }
      : { type: "message", role: "assistant", content: [{ type: "output_text", text: piece }] };
  });
}

const ordinary = { disallowedSpecial: new Set<string>() };

/** Counts like the worker threads, which cut long runs of white space first. */
function countHere(text: string): number {
  return cutRuns(text).reduce((sum, piece) => sum + countTokens(piece, ordinary), 0);
}

function wireHere(baseUrl: string): Provider {
  const transport = createTransport({});
  const provider = wireProvider({
    provider: "here",
    api: "responses",
    baseUrl,
    transport: async () => transport,
    credential: () => "sk-bench",
  });
  return { name: "here", stream: (request, signal) => provider.stream(request, signal) };
}
