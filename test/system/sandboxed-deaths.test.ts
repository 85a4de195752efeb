import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Sandboxes } from "../../src/sandbox/sandboxes.js";
import { Child } from "../crash/child.js";
import { newWorld, rolloutPath } from "../crash/world.js";
import type { ConfinedOrder } from "../support/children/confined.js";
import { commandLinesWith } from "../support/processes.js";
import { rolloutLines } from "../support/rollout-lines.js";

const deaths = Number(process.env["CODY_SANDBOX_RUNS"] ?? 500);
/** The conversations of a process, each of which loses one call. */
const perProcess = 5;
/** How many processes play the same conversations, one after the other. */
const processesOfOne = 10;

test(`${deaths} commands in the sandbox whose cody is killed after their effect are never run again, and leave nothing`, async () => {
  const world = await newWorld();
  const [workspace, temporary] = [join(world.home, "workspace"), join(world.home, "temporary")];
  await Promise.all([mkdir(workspace), mkdir(temporary)]);
  execFileSync("git", ["init", "-q"], { cwd: workspace });
  const inGit = await readdir(join(workspace, ".git"));
  const token = `77${process.pid}`;
  const { home, runtimeDirectory } = world;
  const order = { home, runtimeDirectory, workspace, temporary, token, path: process.env["PATH"] ?? "" };
  const play = async (part: Pick<ConfinedOrder, "resume" | "create" | "label" | "dies">): Promise<string[]> => {
    const child = new Child("children/confined", { ...order, ...part } satisfies ConfinedOrder);
    await child.gone;
    return child.reports.flatMap(({ conversation }) => conversation ?? []);
  };
  const conversations: string[] = [];
  let current: readonly string[] = [];
  for (let round = 0; round < deaths / perProcess; round += 1) {
    if (round % processesOfOne === 0) current = [];
    const isNew = current.length === 0;
    current = await play({ resume: current, create: isNew ? perProcess : 0, label: `r${round}`, dies: true });
    if (isNew) conversations.push(...current);
  }
  await play({ resume: conversations, create: 0, label: "last", dies: false });
  await expect.poll(() => commandLinesWith(token), { timeout: 20_000 }).toEqual([]);

  const done = (await readFile(join(workspace, "effects"), "utf8")).split("\n").filter(Boolean);
  expect(new Set(done).size).toBe(done.length);
  expect(done).toHaveLength(deaths);
  const ends = await Promise.all(conversations.map((id) => rolloutLines(rolloutPath(world, id))));
  const outputs = ends
    .flat()
    .flatMap(({ payload }) =>
      payload["type"] === "function_call_output" ? [[String(payload["call_id"]), String(payload["output"])]] : [],
    );
  expect(new Set(outputs.map(([call]) => call))).toEqual(new Set(done));
  expect(outputs).toHaveLength(deaths);
  expect(new Set(outputs.map(([, output]) => output))).toEqual(new Set(["interrupted, result unknown"]));
  // As the next process does before its first command.
  const homes = { home, codexHome: undefined, claudeHome: undefined };
  await new Sandboxes({ homes, config: {}, env: { TMPDIR: temporary } }).sweep();
  expect(await readdir(workspace)).toEqual([".git", "effects"]);
  expect(await readdir(join(workspace, ".git"))).toEqual(inGit);
  expect(await readdir(temporary)).toEqual([]);
  expect(await readdir(join(world.home, "sandbox"))).toEqual(["empty", "unreadable"]);
}, 900_000);
