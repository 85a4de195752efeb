import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openOwnerSocket } from "../../src/actors/rollout-writer/rollout-locks.js";
import { numberedLines, upTo } from "./numbered-lines.js";
import { Writing, type Place } from "./writing.js";

/** The directories a scenario uses. */
export type Scene = Pick<Place, "directory" | "runtimeDirectory">;

/** Two directories must be created before the first file. */
export async function newScene(folder: string): Promise<Scene> {
  const runtimeDirectory = join(folder, "run");
  await mkdir(runtimeDirectory, { recursive: true });
  return { directory: join(folder, "home", "conversations"), runtimeDirectory };
}

/** Disk work that makes the same calls every time; `prepare` is not part of it. */
export interface Scenario {
  readonly prepare: (scene: Scene) => Promise<void>;
  readonly play: (place: Place) => Promise<void>;
  /** The last line number of each conversation once everything is saved. */
  readonly last: Readonly<Record<string, number>>;
}

export const scenarioNames = ["new", "crashed", "restarted"] as const;
export type ScenarioName = (typeof scenarioNames)[number];

/** The torn tail of the line that the dead owner was writing. */
export const tornTail = numberedLines("torn", [5]).subarray(0, 110);

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  /** New conversations, and one of them again in a second process. */
  new: {
    prepare: async () => {},
    play: async (place) => {
      const first = await Writing.begin(place);
      const a = await first.open("a", "create");
      await a.say(1);
      const b = await first.open("b", "create");
      a.write(2);
      await place.quiet();
      // Only one file stays open at a time, so the other conversation's file is closed before it was synced.
      b.write(1);
      await place.quiet();
      a.write(3);
      await a.say(4);
      await b.say(2);
      await first.end();
      const second = await Writing.begin(place);
      const again = await second.open("a", "append", 4);
      await again.say(5);
      again.write(6);
      await place.quiet();
      await second.end();
    },
    last: { a: 6, b: 2 },
  },
  /** A conversation whose owner died in the middle of a line, as did the process that was taking over from it. */
  crashed: {
    prepare: leaveCrash,
    play: async (place) => {
      const writing = await Writing.begin(place);
      const a = await writing.open("a", "append", 3);
      await a.say(4);
      a.write(5);
      await place.quiet();
      await a.say(6);
      await writing.end();
    },
    last: { a: 6 },
  },
  /** The writer dies, and the next one gets everything again that was not acknowledged. */
  restarted: {
    prepare: async () => {},
    play: async (place) => {
      const writing = await Writing.begin(place);
      const a = await writing.open("a", "create");
      await a.say(1);
      a.write(2);
      await place.quiet();
      writing.crashAtNextAppend();
      await a.say(3);
      await a.say(4);
      await writing.end();
    },
    last: { a: 4 },
  },
};

async function leaveCrash({ directory, runtimeDirectory }: Scene): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "a.jsonl");
  writeFileSync(path, Buffer.concat([numberedLines("a", upTo(3)), tornTail]));
  const [dead, taker] = [await openOwnerSocket(runtimeDirectory), await openOwnerSocket(runtimeDirectory)];
  // Owners that look like an earlier process with the pid of this one.
  const [first, second] = [dead.owner, taker.owner].map((owner) => ({
    ...owner,
    startTime: "0",
    token: randomBytes(16).toString("hex"),
  }));
  writeFileSync(`${path}.lock`, JSON.stringify(first));
  writeFileSync(`${path}.lock.after.${first?.token}`, JSON.stringify(second));
  await dead.close();
  await taker.close();
}
