import { setImmediate } from "node:timers/promises";
import type { MockReply } from "../../src/mock-llm/script.js";
import type { WireApi } from "../../src/messages/settings/config.js";
import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import { createTransport } from "../../src/providers/transport/node-transport.js";
import { wireProvider } from "../../src/providers/wire-provider.js";
import type { Provider } from "../../src/providers/provider.js";
import { begin, type Loopback, serve } from "../providers/loopback.js";
import { post } from "./open-mock-llm.js";
import { mockKey, mockLlm, type SpokenApi } from "./wire-apis.js";

/** How a stream stops early: it ends, its connection is reset, or nothing more arrives. */
export const faults = ["end", "reset", "stall"] as const;
export type Fault = (typeof faults)[number];

/** Thinking, text and two calls, with characters of one to four bytes: more than 5 KB on every wire API. */
export const twoCalls = {
  reasoning: "Beide müssen notiert werden: 日本語 und 🙂",
  text: "Ich notiere beide – zuerst „eins“, dann „zwei“. 両方とも書きます。 Here we go 🚀 with both of them!",
  deltas: 8,
  calls: [
    {
      id: "call_one",
      name: "note",
      arguments: { text: `das Erste: äöü 日本語 🙂 ${"und so weiter, ".repeat(9)}`, number: 1 },
    },
    { id: "call_two", name: "note", arguments: { text: 'the "second"\nwith \\ and 🚀', number: 2 } },
  ],
} satisfies MockReply;

/** A string in the event that completes an answer. */
const lastWords: Readonly<Record<WireApi, string>> = {
  responses: '"type":"response.completed"',
  chat: '"finish_reason":"tool_calls"',
  messages: '"type":"message_stop"',
};

export interface RecordedStream {
  readonly bytes: Buffer;
  /** The byte offsets at which events end. */
  readonly borders: readonly number[];
  /** The number of bytes after which the answer is complete. */
  readonly completeAt: number;
}

const transport = createTransport({});

/** A provider for the model at an address. */
export function modelAt(spoken: SpokenApi, url: string, idleMs?: number): Provider {
  return wireProvider({
    provider: "acme",
    api: spoken.api,
    baseUrl: spoken.provider === "openai" ? `${url}/v1` : url,
    transport: () => Promise.resolve(transport),
    credential: () => mockKey,
    ...(idleMs === undefined ? {} : { idleMs }),
  });
}

/**
 * A provider with a short timeout that applies only after an answer has started, so that it detects a stall in the
 * answer and not a busy machine. If the timeout was too short, it retries and doubles the timeout from then on.
 */
function impatientModelAt(spoken: SpokenApi, url: string): Provider {
  let idleMs = 25;
  let model = modelAt(spoken, url, idleMs);
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    for (let isTooSoon = true; isTooSoon;) {
      isTooSoon = false;
      const asked = model;
      for await (const event of asked.stream(request, signal)) {
        isTooSoon = event.type === "failed" && event.failure.message.endsWith("no answer came in time");
        if (!isTooSoon) yield event;
      }
      if (isTooSoon && asked === model) model = modelAt(spoken, url, (idleMs *= 2));
    }
  }
  return { name: "acme", stream };
}

/** Records the bytes with which the strict server answers our own request. */
export async function recordStream(spoken: SpokenApi, request: ModelRequest): Promise<RecordedStream> {
  const mock = await mockLlm([twoCalls]);
  const ear = await serve((response) => void response.writeHead(500).end());
  for await (const _ of modelAt(spoken, ear.url).stream(request, new AbortController().signal));
  const headers = { authorization: `Bearer ${mockKey}`, "x-api-key": mockKey };
  const response = await post(mock, spoken.api, ear.requests[0]?.body ?? "", headers);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`nothing to record: ${bytes.toString()}`);
  const borders: number[] = [];
  for (let at = bytes.indexOf("\n\n"); at >= 0; at = bytes.indexOf("\n\n", at + 2)) borders.push(at + 2);
  const last = bytes.indexOf(lastWords[spoken.api]);
  const completeAt = borders.find((border) => border > last);
  if (last < 0 || completeAt === undefined) throw new Error("the recorded answer is not complete");
  return { bytes, borders, completeAt };
}

/** A message that asks the server for an answer that stops at this byte. */
export function cutRequestText(fault: Fault, offset: number): string {
  return `Answer with ${fault} at byte ${offset}`;
}

/** A provider with a short timeout if the answer stalls. */
export function cutModelAt(spoken: SpokenApi, url: string, fault: Fault): Provider {
  return fault === "stall" ? impatientModelAt(spoken, url) : modelAt(spoken, url);
}

/** A server that sends a stream up to the byte that the request asks for. */
export function serveCuts({ bytes }: RecordedStream): Promise<Loopback> {
  return serve(async (response, { body }) => {
    const [, fault, offset] = /Answer with (\w+) at byte (\d+)/.exec(body) ?? [];
    begin(response, bytes.subarray(0, Number(offset)));
    if (fault === "end") response.end();
    if (fault !== "reset") return;
    // A reset discards bytes that were not read yet, so let the reader in this process run first.
    for (let turns = 0; turns < 3; turns += 1) await setImmediate();
    response.socket?.resetAndDestroy();
  });
}

/** Every `every` bytes, and the end of each event and the byte before it. */
export function offsetsOf({ bytes, borders }: RecordedStream, every: number): number[] {
  const spread = Array.from({ length: Math.floor(bytes.length / every) + 1 }, (_, index) => index * every);
  const near = borders.flatMap((border) => [border - 1, border]);
  const all = new Set([...spread, ...near, bytes.length].filter((offset) => offset <= bytes.length));
  return [...all].toSorted((left, right) => left - right);
}

/** Calls `play` for every value, at most `lanes` at a time. */
export async function forEachConcurrently<T>(values: readonly T[], lanes: number, play: (value: T) => Promise<void>) {
  const left = values.values();
  const lane = async (): Promise<void> => {
    for (const value of left) await play(value);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
