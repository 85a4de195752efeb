import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRetention } from "../../../src/actors/retention/run-retention.js";
import { TrashBin } from "../../../src/actors/retention/trash-bin.js";
import { conversationPlaces } from "../../../src/config/paths.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { everything } from "../../rollouts/trash/conversation-on-disk.js";

const runs = 1_000;
const hour = 60 * 60 * 1000;
const day = 24 * hour;
const start = Date.parse("2026-11-16T00:00:00Z");

/** A seeded random number generator with values from 0 to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function idOf(number: number): string {
  return `conv_01a1e278-c9af-73b9-84ae-${String(number).padStart(12, "0")}`;
}

async function putRollout(directory: string, number: number, updatedAt: number): Promise<string> {
  const id = idOf(number);
  const path = join(directory, `${id}.jsonl`);
  const payload = { id, timestamp: new Date(updatedAt).toISOString(), cwd: "/", originator: "cody", cli_version: "0" };
  await writeFile(
    path,
    `${JSON.stringify({ timestamp: payload.timestamp, type: "session_meta", payload })}\n${number}`,
  );
  if (number % 3 === 0) await writeFile(`${path}.torn-1`, `{${number}`);
  await utimes(path, updatedAt / 1000, updatedAt / 1000);
  return id;
}

test(`in ${runs} runs with a jumping clock nothing is deleted without an announcement, and everything can be restored`, async () => {
  const home = await temporaryFolder();
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const directory = join(home, "conversations");
  await mkdir(directory);
  const random = randomNumbers(7);
  const places = conversationPlaces({ home, codexHome: undefined, persistence: {} });
  const ids = new Set<string>();
  for (let number = 0; number < 40; number += 1) {
    ids.add(await putRollout(directory, number, start - Math.floor(random() * 90) * day));
  }
  const before = await everything(directory);
  /** The real times at which the user saw that a conversation would be trashed or permanently deleted. */
  const seen = new Map<string, number[]>();
  const [gone, lost, tooSoon, broughtBack]: [string[], string[], string[], string[]] = [[], [], [], []];
  const judge = (id: string, time: number): void => {
    const times = (seen.get(id) ?? []).filter((seenAt) => seenAt < time);
    if (times.length < 3 || time - (times[0] ?? time) < 7 * day) tooSoon.push(id);
    seen.delete(id);
  };
  let [time, shift] = [start, 0];
  for (let run = 0; run < runs; run += 1) {
    time += Math.floor(random() * 60) * hour;
    const kind = random();
    // Sometimes the clock jumps by up to three years in either direction, and sometimes it is corrected.
    if (kind < 0.08) shift = Math.sign(random() - 0.5) * Math.ceil(30 + random() * 1_000) * day;
    else if (kind < 0.3) shift = 0;
    const clock = time + shift;
    const isSeen = random() < 0.9;
    if (run % 20 === 0) {
      const number = 100 + run;
      ids.add(await putRollout(directory, number, time));
      Object.assign(before, await oneOf(directory, idOf(number)));
    }
    const here = await conversationsIn(directory);
    const report = await runRetention({
      places,
      env,
      now: () => new Date(clock),
      settings: { retentionDays: 30, maxConversationsPerProject: 20 },
      show: async (notice) => {
        // Lines about conversations deleted now are not announcements.
        const coming = notice.split("\n").filter((line) => !/ (?:is|are) now /.test(line));
        for (const id of ids) {
          if (isSeen && coming.some((line) => line.includes(id))) seen.set(id, [...(seen.get(id) ?? []), time]);
        }
        return isSeen;
      },
    });
    const left = here.filter((id) => !report.trashed.successes.some(({ sessionId }) => sessionId === id));
    expect(await conversationsIn(directory)).toEqual(left);
    for (const [result, list] of [
      [report.trashed, gone],
      [report.removed, lost],
    ] as const) {
      for (const { sessionId } of result.successes) {
        list.push(sessionId);
        judge(sessionId, time);
      }
    }
    // Some users restore a conversation at once.
    for (const { sessionId } of report.trashed.successes.filter(() => random() < 0.3)) {
      await using bin = await TrashBin.open({ places, env, now: () => new Date(clock) });
      await bin.restore(sessionId);
      gone.splice(gone.indexOf(sessionId), 1);
      broughtBack.push(sessionId);
      expect(await oneOf(directory, sessionId)).toEqual(oneIn(before, sessionId));
    }
    expect([report.trashed.failures, report.removed.failures]).toEqual([[], []]);
  }
  expect(tooSoon).toEqual([]);
  expect(gone.length).toBeGreaterThan(lost.length);
  expect(Math.min(lost.length, broughtBack.length)).toBeGreaterThan(10);
  await using bin = await TrashBin.open({ places, env, now: () => new Date(start) });
  for (const id of gone) if (!lost.includes(id)) await bin.restore(id);
  const isLost = (name: string): boolean => lost.some((id) => name.startsWith(id));
  expect(await everything(directory)).toEqual(
    Object.fromEntries(Object.entries(before).filter(([name]) => !isLost(name))),
  );
}, 300_000);

async function conversationsIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).flatMap((name) =>
    name.endsWith(".jsonl") ? [name.slice(0, -".jsonl".length)] : [],
  );
}

async function oneOf(directory: string, id: string): Promise<Record<string, string>> {
  return oneIn(await everything(directory), id);
}

function oneIn(all: Readonly<Record<string, string>>, id: string): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith(id)));
}
