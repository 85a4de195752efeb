// Measures whether a turn, and a round of tool calls, cost the same CPU time in a long history as in a short one. The
// floor builds and sends a request of the same size, so the difference is the work that should not grow.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { isRecord } from "../src/base/is-record.js";
import type { ResponseItem } from "../src/messages/response-item.js";
import { defineTool } from "../src/tools/define-tool.js";
import { ConversationManager } from "./support/built-package.js";
import { median } from "./support/measure.js";
import { met, printTable, whole } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";

const histories = [10, 100, 1_000, 3_000];
const roundsInTurn = [10, 100, 200];
const sample = 20;
const repeats = 5;
/** `history.maxSize`: a model sees no more turns. */
const maxTurns = 1_000;
const goal = 1.3;

/** CPU times in milliseconds. */
interface Cost {
  readonly cody: number;
  readonly floor: number;
}

const measure = defineTool({
  name: "measure",
  description: "Returns a few words",
  parameters: z.strictObject({ number: z.number() }),
  readOnly: true,
  run: async ({ number }) => `measured ${number}`,
});
const agent = new Agent({ keepAlive: true });

await using directory = await temporaryDirectory();
report("turns", "one more turn after", histories, await costsOfTurns());
report("rounds", "one more round of tool calls after", roundsInTurn, await costsOfRounds());
process.exit();

async function costsOfTurns(): Promise<Cost[]> {
  const { url } = await startServer(0);
  await using manager = open(url, "turns");
  const opened = await Promise.all(
    histories.map(async (turns) => {
      const { conversation } = await manager.newConversation();
      await conversation.replaceHistory(Array.from({ length: turns }, (_, index) => itemsOfTurn(index)).flat());
      return conversation;
    }),
  );
  const costs = histories.map(() => ({ cody: [] as number[], floor: [] as number[] }));
  for (let repeat = 0; repeat <= repeats; repeat += 1) {
    for (const [index, conversation] of opened.entries()) {
      const cody = await cpuOf(async () => {
        for (let turn = 0; turn < sample; turn += 1) await conversation.processMessage("One more question, please");
      });
      const sent = conversation.getHistory().slice(-2 * maxTurns);
      const floor = await cpuOf(async () => {
        for (let turn = 0; turn < sample; turn += 1) await post(url, sent);
      });
      // The first round warms up.
      if (repeat === 0) continue;
      costs[index]?.cody.push(cody / sample);
      costs[index]?.floor.push(floor / sample);
    }
  }
  return costs.map(({ cody, floor }) => ({ cody: median(cody), floor: median(floor) }));
}

async function costsOfRounds(): Promise<Cost[]> {
  const rounds = (roundsInTurn.at(-1) ?? 0) + sample;
  const [{ url }, floorServer] = await Promise.all([startServer(rounds), startServer(0)]);
  await using manager = open(url, "rounds");
  const costs = roundsInTurn.map(() => ({ cody: [] as number[], floor: [] as number[] }));
  for (let repeat = 0; repeat <= repeats; repeat += 1) {
    const { conversation } = await manager.newConversation();
    const times: number[] = [];
    const id = await conversation.submit("Measure everything");
    for await (const { id: of, msg } of conversation.events({ since: 0, lossless: true })) {
      if (of !== id) continue;
      if (msg.type === "raw_response_item" && isOutput(msg.item)) times.push(cpuTime());
      if (msg.type === "task_complete") break;
    }
    const history = conversation.getHistory();
    if (times.length !== rounds) throw new Error(`${times.length} rounds instead of ${rounds}`);
    for (const [index, done] of roundsInTurn.entries()) {
      const sent = history.slice(0, 1 + 2 * done);
      const floor = await cpuOf(async () => {
        for (let round = 0; round < sample; round += 1) await post(floorServer.url, sent);
      });
      if (repeat === 0) continue;
      const [from, to] = [times[done - sample / 2] ?? 0, times[done + sample / 2] ?? times.at(-1) ?? 0];
      costs[index]?.cody.push((to - from) / sample);
      costs[index]?.floor.push(floor / sample);
    }
    await conversation.shutdown();
  }
  return costs.map(({ cody, floor }) => ({ cody: median(cody), floor: median(floor) }));
}

function open(baseUrl: string, name: string): ConversationManager {
  return new ConversationManager({
    home: `${directory.path}/${name}`,
    env: { XDG_RUNTIME_DIR: directory.path, OPENAI_API_KEY: "key" },
    config: {
      provider: "openai",
      api: "responses",
      model: "gpt-5",
      baseUrl,
      contextWindow: 10_000_000,
      turnLimits: { steps: 1_000 },
    },
    tools: [measure],
  });
}

function isOutput(item: unknown): boolean {
  return isRecord(item) && item["type"] === "function_call_output";
}

function itemsOfTurn(index: number): ResponseItem[] {
  return [
    { type: "message", role: "user", content: [{ type: "input_text", text: `Question ${index}, of a few words` }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "An answer of a few words." }] },
  ];
}

async function startServer(rounds: number): Promise<{ url: string }> {
  const server = fork(fileURLToPath(new URL("./threads/growth-server.js", import.meta.url)), [String(rounds)]);
  const [port] = (await once(server, "message")) as [number];
  return { url: `http://127.0.0.1:${port}/v1` };
}

async function post(url: string, history: readonly ResponseItem[]): Promise<void> {
  const headers = { "content-type": "application/json", authorization: "Bearer key" };
  const input = history.map(sentItem);
  await new Promise((resolve, reject) => {
    const sent = request(`${url}/responses`, { method: "POST", agent, headers }, (response) => {
      response.on("end", resolve).resume();
    });
    sent.on("error", reject).end(JSON.stringify({ model: "gpt-5", input, stream: true, store: false }));
  });
}

/** Makes an item of the request, which has only some of the fields. */
function sentItem(item: ResponseItem): object {
  if (item.type !== "message") return { ...item, id: undefined };
  return { type: item.type, role: item.role, content: item.content.map((part) => ({ ...part })) };
}

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const begin = cpuTime();
  await work();
  return cpuTime() - begin;
}

function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function report(what: string, title: string, sizes: readonly number[], costs: readonly Cost[]): void {
  const own = costs.map(({ cody, floor }) => cody - floor);
  const first = own[0] ?? Number.NaN;
  printTable(
    `CPU ms of ${title} N ${what} (median of ${repeats})`,
    ["N", "cody", "floor: the request", "difference", "to the first", "goal", ""],
    sizes.map((size, index) => {
      const { cody, floor } = costs[index] ?? { cody: Number.NaN, floor: Number.NaN };
      const ratio = (own[index] ?? Number.NaN) / first;
      const verdict = index === 0 ? ["", ""] : [`<= ${goal}x`, met(ratio <= goal)];
      return [
        whole(size),
        cody.toFixed(2),
        floor.toFixed(2),
        (own[index] ?? 0).toFixed(2),
        `${ratio.toFixed(2)}x`,
        ...verdict,
      ];
    }),
  );
}
