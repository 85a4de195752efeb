// Measures opening a thousand saved conversations at once, and creating as many, with and without persistence.
import { spawnSync } from "node:child_process";
import { constants } from "node:fs";
import { cp, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConversationManager } from "./support/built-package.js";
import { inLanes, median } from "./support/measure.js";
import { met, printTable } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";

const count = 1_000;
const rounds = Number(process.env["OPEN_ROUNDS"] ?? 3);
const goal = 2;
const poolThreads = 4;
const child = fileURLToPath(new URL("threads/open-child.js", import.meta.url));

interface Measured {
  readonly ms: number;
  readonly cpuMs: number;
}

await using directory = await temporaryDirectory();
const saved = join(directory.path, "saved");
await saveConversations();

// Every run gets a home of its own, and none is deleted meanwhile: creating files is slow on ext4 after many were deleted.
let homes = 0;
const subjects = [
  { name: "saved, with persistence", kind: "resume", persistence: "on", base: "saved, without" },
  { name: "saved, without", kind: "resume", persistence: "off", base: undefined },
  { name: "new, with persistence", kind: "create", persistence: "on", base: "new, without" },
  { name: "new, without", kind: "create", persistence: "off", base: undefined },
].map((subject) => ({ ...subject, values: [] as Measured[] }));
const bare: Measured[] = [];
for (let round = 0; round < rounds; round += 1) {
  for (const { kind, persistence, values } of subjects) values.push(await run(kind, persistence));
  bare.push(await writeBareFiles());
}

const medianOf = (values: readonly Measured[], key: keyof Measured): number => median(values.map((each) => each[key]));
printTable(
  `Opening ${count.toLocaleString("en")} conversations at once, ms (median of ${rounds})`,
  ["conversations", "time", "CPU", "x time", "x CPU", "goal", ""],
  [
    ...subjects.map(({ name, base, values }) => {
      const own = [medianOf(values, "ms"), medianOf(values, "cpuMs")] as const;
      const cells = [name, own[0].toFixed(0), own[1].toFixed(0)];
      const others = subjects.find((subject) => subject.name === base)?.values;
      if (others === undefined) return [...cells, "", "", "", ""];
      const ratios = [own[0] / medianOf(others, "ms"), own[1] / medianOf(others, "cpuMs")] as const;
      const verdict = base?.startsWith("saved") === true ? [`<= ${goal}x`, met(Math.max(...ratios) <= goal)] : ["", ""];
      return [...cells, ...ratios.map((ratio) => `${ratio.toFixed(1)}x`), ...verdict];
    }),
    [
      "bare files, created and synced",
      medianOf(bare, "ms").toFixed(0),
      medianOf(bare, "cpuMs").toFixed(0),
      "",
      "",
      "",
      "",
    ],
  ],
);

async function saveConversations(): Promise<void> {
  await using manager = new ConversationManager({ home: saved, config: { provider: "offline" } });
  await inLanes(50, count + 1, async () => {
    const { conversation } = await manager.newConversation();
    await conversation.processMessage("What is 1+2?");
    await conversation.shutdown();
  });
}

async function run(kind: string, persistence: string): Promise<Measured> {
  const home = join(directory.path, `home-${(homes += 1)}`);
  if (kind === "resume") await cp(saved, home, { recursive: true });
  else await mkdir(join(home, "conversations"), { recursive: true });
  const { status, stdout, stderr } = spawnSync(process.execPath, [child, home, String(count), kind, persistence], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${kind} ${persistence}: ${stderr}`);
  return JSON.parse(stdout) as Measured;
}

/** The least that creating does: a file with a line, synced, and its name. */
async function writeBareFiles(): Promise<Measured> {
  const folder = join(directory.path, `bare-${(homes += 1)}`);
  await mkdir(folder);
  const [begin, before] = [performance.now(), process.cpuUsage()];
  await inLanes(poolThreads, count, async (index) => {
    const file = await open(join(folder, `${index}.jsonl`), "wx", 0o600);
    await file.write("x".repeat(500));
    await file.datasync();
    await file.close();
  });
  const names = await open(folder, constants.O_RDONLY);
  await names.sync();
  await names.close();
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - begin, cpuMs: (user + system) / 1000 };
}
