import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { onTestFailed } from "vitest";
import { ConversationManager } from "../../src/manager.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { newQuestion } from "./question.js";
import { Random } from "./random.js";
import { firstSeed } from "./rounds.js";
import { variedProvider } from "./varied-provider.js";

/** The environment of a crash test: a home, a directory for sockets, and a seeded random generator. */
export interface World {
  readonly home: string;
  readonly runtimeDirectory: string;
  readonly random: Random;
}

export async function newWorld(): Promise<World> {
  const seed = firstSeed();
  onTestFailed(() => {
    process.stderr.write(`the test was begun with CODY_CRASH_SEED=${seed}\n`);
  });
  const home = await temporaryFolder();
  const runtimeDirectory = join(home, "run");
  await mkdir(runtimeDirectory, { mode: 0o700 });
  return { home, runtimeDirectory, random: new Random(seed) };
}

/** The manager that resumes conversations after the crash. */
export function openManager({ home, runtimeDirectory }: World): ConversationManager {
  return new ConversationManager({
    home,
    cwd: home,
    env: { XDG_RUNTIME_DIR: runtimeDirectory },
    providers: [variedProvider],
  });
}

/** Plays a turn in this process, in a new conversation or in the given one, and returns its id. */
export async function playOneTurn(world: World, label: string, conversation?: string): Promise<string> {
  const manager = openManager(world);
  try {
    const opened =
      conversation === undefined
        ? (await manager.newConversation({ provider: variedProvider.name, model: "varied" })).conversation
        : await manager.resumeConversation(conversation);
    await opened.processMessage(newQuestion(`pid ${process.pid} ${label}`, world.random));
    return opened.id;
  } finally {
    await manager.shutdown();
  }
}

export async function conversationIds({ home }: World): Promise<string[]> {
  const names = await readdir(join(home, "conversations")).catch(() => []);
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => name.slice(0, -".jsonl".length));
}

export function rolloutPath({ home }: World, conversation: string): string {
  return join(home, "conversations", `${conversation}.jsonl`);
}

export interface Leftovers {
  /** Lock files and takeover marks. */
  readonly locks: string[];
  /** Temporary files and sockets. A process killed between creating one and using it leaves it behind. */
  readonly strays: string[];
}

/** The files left after every conversation was opened and closed again. */
export async function leftovers({ home, runtimeDirectory }: World): Promise<Leftovers> {
  const names = await readdir(join(home, "conversations"));
  // Torn tails are kept for the user.
  const beside = names.filter((name) => !/\.jsonl(\.torn-\d+)?$/.test(name));
  const temporary = beside.filter((name) => name.endsWith(".tmp"));
  const sockets = await readdir(join(runtimeDirectory, "cody"));
  return { locks: beside.filter((name) => !temporary.includes(name)), strays: [...temporary, ...sockets] };
}
