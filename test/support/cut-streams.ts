import { setImmediate } from "node:timers/promises";
import type { MockReply } from "../../src/mock-llm/script.js";
import type { WireApi } from "../../src/messages/config.js";
import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import { createTransport } from "../../src/providers/transport/node-transport.js";
import { wireProvider } from "../../src/providers/wire-provider.js";
import type { Provider } from "../../src/providers/provider.js";
import { begin, type Loopback, serve } from "../providers/loopback.js";
import { post } from "./open-mock-llm.js";
import { mockKey, mockLlm, type SpokenApi } from "./wire-apis.js";

/** How a stream stops before its end: it just ends, its connection is reset, or nothing more comes. */
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

/** What stands in the event after which an answer is complete. */
const lastWords: Readonly<Record<WireApi, string>> = {
  responses: '"type":"response.completed"',
  chat: '"finish_reason":"tool_calls"',
  messages: '"type":"message_stop"',
};

export interface RecordedStream {
  readonly bytes: Buffer;
  /** Where an event ends, in bytes. */
  readonly borders: readonly number[];
  /** With so many bytes the answer is complete. */
  readonly completeAt: number;
}

const transport = createTransport({});

/** A model behind an address. */
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
 * A model that gives up soon, yet not before an answer has begun: a stall in the answer is meant, not a busy machine.
 * Where it was too soon, it is asked again, from then on with twice the patience.
 */
function hastyModelAt(spoken: SpokenApi, url: string): Provider {
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

/** The bytes with which the strict server answers our own request. */
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

/** What somebody says who wants an answer that stops there. */
export function cutWish(fault: Fault, offset: number): string {
  return `Answer with ${fault} at byte ${offset}`;
}

/** Whoever waits for an answer that falls silent does not wait long. */
export function cutModelAt(spoken: SpokenApi, url: string, fault: Fault): Provider {
  return fault === "stall" ? hastyModelAt(spoken, url) : modelAt(spoken, url);
}

/** A server that plays a stream up to the byte the request wishes for. */
export function serveCuts({ bytes }: RecordedStream): Promise<Loopback> {
  return serve(async (response, { body }) => {
    const [, fault, offset] = /Answer with (\w+) at byte (\d+)/.exec(body) ?? [];
    begin(response, bytes.subarray(0, Number(offset)));
    if (fault === "end") response.end();
    if (fault !== "reset") return;
    // A reset takes along what was not read yet: the reader, in this process, has its turn before it.
    for (let turns = 0; turns < 3; turns += 1) await setImmediate();
    response.socket?.resetAndDestroy();
  });
}

/** Every so many bytes, and the end of each event with the byte before it. */
export function offsetsOf({ bytes, borders }: RecordedStream, every: number): number[] {
  const spread = Array.from({ length: Math.floor(bytes.length / every) + 1 }, (_, index) => index * every);
  const near = borders.flatMap((border) => [border - 1, border]);
  const all = new Set([...spread, ...near, bytes.length].filter((offset) => offset <= bytes.length));
  return [...all].toSorted((left, right) => left - right);
}

/** Does something for every value, for so many of them at once. */
export async function inLanes<T>(values: readonly T[], lanes: number, play: (value: T) => Promise<void>) {
  const left = values.values();
  const lane = async (): Promise<void> => {
    for (const value of left) await play(value);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
