// Measures the cost of a turn apart from its deltas, of saving it, and the memory that a conversation keeps.
import { measuredIn, startServer } from "./scale/processes.js";
import type { Load, Measured } from "./scale/load.js";
import { median } from "./support/measure.js";
import { met, printTable } from "./support/table.js";

const conversations = 1_000;
const deltas = 200;
const rounds = Number(process.env["TURNS_ROUNDS"] ?? 3);
const goals = { saved: 1.4, turnMs: 1.5, kept: 1.5 };

type Client = Parameters<typeof measuredIn>[0];
type Figure = (measured: Measured) => number;

const cpuMs: Figure = (measured) => measured.cpuMs;
const keptBytes: Figure = (measured) => measured.keptBytes;
const grownBytes: Figure = (measured) => measured.grownBytes;

await compareSaving();
await compareTurns();
await compareMemory();

async function compareSaving(): Promise<void> {
  const turns = 3;
  const costs = await measureAll(["unsaved", "cody"], { conversations, turns, deltas, isWarm: true, delayMs: 0 });
  const [unsaved, saved] = [costs("unsaved", cpuMs), costs("cody", cpuMs)];
  const ratio = saved / unsaved;
  printTable(
    `${conversations} conversations x ${turns} turns x ${deltas} deltas, provider in the process (median of ${rounds})`,
    ["what", "CPU s", "ms/turn", "ratio", "goal", ""],
    [
      ["not saved", seconds(unsaved), (unsaved / conversations / turns).toFixed(2), "1.00x", "", ""],
      [
        "saved",
        seconds(saved),
        (saved / conversations / turns).toFixed(2),
        `${ratio.toFixed(2)}x`,
        `<= ${goals.saved}x`,
        met(ratio <= goals.saved),
      ],
    ],
  );
}

async function compareTurns(): Promise<void> {
  const turns = 10;
  await using server = await startServer(1);
  const load = {
    conversations,
    turns,
    deltas: 1,
    isWarm: true,
    delayMs: 0,
    url: server.url(0),
    warmUpUrl: server.url(0),
  };
  const costs = await measureAll(["bare", "unsaved", "cody"], load);
  const perTurn = (client: Client): number => costs(client, cpuMs) / conversations / turns;
  const cody = perTurn("cody");
  printTable(
    `${conversations} conversations x ${turns} turns x 1 delta from a server: CPU ms/turn (median of ${rounds})`,
    ["what", "ms", "goal", ""],
    [
      ["bare client", perTurn("bare").toFixed(2), "", ""],
      ["cody, not saved", perTurn("unsaved").toFixed(2), "", ""],
      ["cody", cody.toFixed(2), `<= ${goals.turnMs} ms`, met(cody <= goals.turnMs)],
    ],
  );
}

async function compareMemory(): Promise<void> {
  const turns = 3;
  await using server = await startServer(deltas);
  const load = { conversations, turns, deltas, isWarm: true, delayMs: 0, url: server.url(0), warmUpUrl: server.url(0) };
  const costs = await measureAll(["bare", "cody"], load);
  const each = (client: Client, figure: Figure): number => costs(client, figure) / 1024 / conversations;
  const row = (name: string, client: Client): string[] => [
    name,
    each(client, grownBytes).toFixed(0),
    each(client, keptBytes).toFixed(0),
  ];
  const ratio = each("cody", keptBytes) / each("bare", keptBytes);
  printTable(
    `Memory kept for each of ${conversations} conversations after ${turns} turns (median of ${rounds})`,
    ["what", "KB RSS at most", "kept", "ratio", "goal", ""],
    [
      [...row("bare client", "bare"), "1.00x", "", ""],
      [...row("cody", "cody"), `${ratio.toFixed(2)}x`, `<= ${goals.kept}x`, met(ratio <= goals.kept)],
    ],
  );
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

/** Measures A B A B …, so that a busy moment of the machine affects all clients; returns the median of a figure. */
async function measureAll(clients: readonly Client[], load: Load): Promise<(client: Client, figure: Figure) => number> {
  const costs = new Map<Client, Measured[]>(clients.map((client) => [client, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const client of clients) costs.get(client)?.push(await measuredIn(client, load));
  }
  return (client, figure) => median((costs.get(client) ?? []).map(figure));
}
