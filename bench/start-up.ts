// Measures the start-up time of short commands, compared with a Node process that does nothing, and one-shot turns over a
// wire API, also with a rollout to resume, compared with a bare client too.
import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { homePaths } from "../src/config/paths.js";
import { conversationId } from "./resume/rollout-kind.js";
import { writeRollout } from "./resume/write-rollout.js";
import { interleaved } from "./support/measure.js";
import { met, printTable } from "./support/table.js";
import { temporaryDirectory } from "./support/temporary-directory.js";
import { writeConversations } from "./support/write-conversations.js";

const rounds = 21;
const conversations = 1_000;
const rolloutBytes = 10_000_000;
const question = "What is 2+2?";
const cody = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));
const bareChat = fileURLToPath(new URL("./threads/bare-chat.js", import.meta.url));

interface Start {
  readonly args: readonly string[];
  readonly home: string;
  readonly cwd: string;
  /** A text that the output must contain. */
  readonly expected?: string;
  readonly env?: Record<string, string>;
}

interface Command {
  readonly name: string;
  /** The highest ratio to a Node process that does nothing; none for a baseline. */
  readonly goal?: number;
  readonly start: () => Start;
}

await using directory = await temporaryDirectory();
const full = join(directory.path, "full");
await writeConversations(full, conversations);
const fresh = join(directory.path, "fresh");
let projects = 0;
const server = fork(fileURLToPath(new URL("./threads/mock-server.js", import.meta.url)));
const [url] = (await once(server, "message")) as [string];
const rollout = join(directory.path, "rollout.jsonl");
await writeRollout(rollout, rolloutBytes, "compacted");
const keyed = { OPENAI_API_KEY: "test", OPENAI_BASE_URL: `${url}/v1` };

const inFresh = { home: fresh, cwd: directory.path };

const commands: readonly Command[] = [
  { name: "cody --version", goal: 1.3, start: () => ({ args: [cody, "--version"], home: full, cwd: directory.path }) },
  {
    name: "cody list (1,000)",
    goal: 2,
    start: () => ({ args: [cody, "list"], home: full, cwd: directory.path, expected: `${conversations}` }),
  },
  {
    name: "cody chat (one turn)",
    goal: 3.5,
    start: () => ({ args: [cody, "chat", question], home: fresh, cwd: newProject(), expected: "4" }),
  },
  {
    name: "bare client, wire API",
    start: () => ({ args: [bareChat, url, join(newProject(), "rollout.jsonl")], ...inFresh, expected: "4" }),
  },
  {
    name: "cody chat, wire API",
    // Codex needs 301 ms where Node needs 43.
    goal: 7,
    start: () => ({ args: [cody, "chat", question], ...inFresh, cwd: newProject(), expected: "4", env: keyed }),
  },
  {
    name: "bare client, 10 MB",
    start: () => ({ args: [bareChat, url, rolloutIn(newProject())], ...inFresh, expected: "4" }),
  },
  {
    name: "cody chat --resume, 10 MB",
    // Codex needs 179 ms where Node needs 43.
    goal: 4.2,
    start: () => {
      const home = newProject();
      const { conversations: folder } = homePaths(home);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      copyFileSync(rollout, join(folder, `${conversationId}.jsonl`));
      const args = [cody, "chat", "--provider", "openai", "--model", "gpt-5", "--resume", conversationId, question];
      return { args, home, cwd: home, expected: "4", env: keyed };
    },
  },
];
const bare = "node -e 0";

// Pass on nothing else of this shell's environment: with a key in it the command would call a real model.
await compare("in an empty environment", {});
const { NODE_EXTRA_CA_CERTS } = process.env;
// Node reads these certificates at every start, which slows down all commands, also the baseline.
if (NODE_EXTRA_CA_CERTS !== undefined) await compare("with this shell's NODE_EXTRA_CA_CERTS", { NODE_EXTRA_CA_CERTS });

server.disconnect();

async function compare(where: string, extra: Record<string, string>): Promise<void> {
  const measured = await interleaved(rounds, [
    { name: bare, measure: () => run(extra, { args: ["-e", "0"], home: full, cwd: directory.path }) },
    ...commands.map(({ name, start }) => ({ name, measure: () => run(extra, start()) })),
  ]);
  const base = measured.get(bare) ?? Number.NaN;
  printTable(
    `Start-up ${where}, wall time (median of ${rounds})`,
    ["command", "ms", `x ${bare}`, "goal", ""],
    [
      [bare, base.toFixed(0), "1.00", "", ""],
      ...commands.map(({ name, goal }) => {
        const ms = measured.get(name) ?? Number.NaN;
        const judged = goal === undefined ? ["", ""] : [`<= ${goal}`, met(ms / base <= goal)];
        return [name, ms.toFixed(0), (ms / base).toFixed(2), ...judged];
      }),
    ],
  );
}

/** The duration in milliseconds; throws if the command fails or prints something else. */
function run(extra: Record<string, string>, { args, home, cwd, expected = "", env: own = {} }: Start): number {
  const { PATH } = process.env;
  const env = { PATH, HOME: directory.path, CODY_HOME: home, XDG_RUNTIME_DIR: directory.path, ...extra, ...own };
  const begin = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: "utf8" });
  const ms = performance.now() - begin;
  if (status !== 0 || !stdout.includes(expected)) throw new Error(`${args.join(" ")}: ${status}: ${stdout}${stderr}`);
  return ms;
}

function newProject(): string {
  projects += 1;
  const project = join(directory.path, `project-${projects}`);
  mkdirSync(project);
  return project;
}

function rolloutIn(folder: string): string {
  const path = join(folder, "rollout.jsonl");
  copyFileSync(rollout, path);
  return path;
}
