// Measures the cost of a delta from the socket to a model event: the SDK's iterator, and our parser with two transports.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { OpenAI } from "openai";
import { createTransport } from "../src/providers/transport/node-transport.js";
import { openaiResponses } from "../src/providers/responses/stream.js";
import type { Transport } from "../src/providers/transport/transport.js";
import type { WireConnection } from "../src/providers/transport/request-head.js";
import { bareDeltas } from "./support/bare-stream.js";
import { inLanes, median } from "./support/measure.js";
import { printTable, whole } from "./support/table.js";

const rounds = 5;
const lanes = 20;
const requests = 300;
const deltas = 200;

interface Variant {
  readonly name: string;
  /** Sends one request and returns the number of deltas received. */
  readonly run: () => Promise<number>;
  readonly rates: number[];
  readonly cpu: number[];
}

const server = fork(fileURLToPath(new URL("./threads/delta-server.js", import.meta.url)), [String(deltas)]);
const [port] = (await once(server, "message")) as [number];
const url = `http://127.0.0.1:${port}/v1`;
const sdk = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 });
// The proxy is not used for this address, but it makes the transport use undici.
const viaUndici = connectionBy(createTransport({ HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "127.0.0.1" }));
const viaNode = connectionBy(createTransport({}));

const variants: Variant[] = [
  variant("bare node:http, split, JSON.parse", () => bareDeltas(url)),
  variant("SDK's iterator", sdkDeltas),
  variant("our events, undici's connections", () => wireDeltas(viaUndici)),
  variant("our events, node:http", () => wireDeltas(viaNode)),
];
for (let round = 0; round <= rounds; round += 1) for (const each of variants) await measure(each, round > 0);
server.disconnect();

const bareCpu = median(variants[0]?.cpu ?? []);
printTable(
  `${requests} requests x ${deltas} deltas, ${lanes} at once (median of ${rounds})`,
  ["what", "deltas/s", "CPU us/delta", "to bare"],
  variants.map(({ name, rates, cpu }) => [
    name,
    whole(median(rates)),
    median(cpu).toFixed(2),
    `${(median(cpu) / bareCpu).toFixed(1)}x`,
  ]),
);
process.exit();

function connectionBy(transport: Transport): WireConnection {
  return { provider: "bench", api: "responses", baseUrl: url, transport, credential: () => "none" };
}

function variant(name: string, run: () => Promise<number>): Variant {
  return { name, run, rates: [], cpu: [] };
}

async function measure({ name, run, rates, cpu }: Variant, counts: boolean): Promise<void> {
  let seen = 0;
  const [begin, usage] = [performance.now(), process.cpuUsage()];
  await inLanes(lanes, requests, async () => {
    const count = await run();
    seen += count;
  });
  const [ms, { user, system }] = [performance.now() - begin, process.cpuUsage(usage)];
  if (seen !== requests * deltas) throw new Error(`${name}: ${seen} deltas came`);
  if (!counts) return;
  rates.push((seen * 1000) / ms);
  cpu.push((user + system) / seen);
}

async function sdkDeltas(): Promise<number> {
  let count = 0;
  const stream = await sdk.responses.create({ model: "m", input: "hi", stream: true });
  for await (const event of stream) if (event.type === "response.output_text.delta") count += 1;
  return count;
}

async function wireDeltas(connection: WireConnection): Promise<number> {
  let count = 0;
  const request = { conversationId: "c", model: "m", instructions: "", input: [], tools: [] };
  for await (const event of openaiResponses(connection, request, new AbortController().signal)) {
    // Deltas that arrive together are merged; each starts with this word.
    if (event.type === "text_delta") count += event.delta.split("word").length - 1;
  }
  return count;
}
