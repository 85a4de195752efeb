import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Death, DoerOrder } from "../support/children/doer.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { Child } from "./child.js";
import type { Report } from "./report.js";
import { rounds, summarize, timeoutMs } from "./rounds.js";
import { newWorld, rolloutPath, type World } from "./world.js";

const deaths = ["after_effect", "when_asked", "when_approved", "when_told"] as const satisfies readonly Death[];
const interrupted = "interrupted, result unknown";
/** How many deaths each conversation goes through. */
const deathsOfOne = 6;

test(
  "no effect happens twice or without approval, and each unknown outcome is reported once",
  async () => {
    const world = await newWorld();
    const effects = join(world.home, "effects");
    const approvals = join(world.home, "approvals");
    const told: string[] = [];
    const conversations: string[] = [];
    let conversation: string | undefined;
    for (let round = 1; round <= rounds.effects; round += 1) {
      const reports = await killedDoer(world, {
        home: world.home,
        runtimeDirectory: world.runtimeDirectory,
        effects,
        approvals,
        label: `r${round}`,
        death: deaths[round % deaths.length] ?? "when_told",
        turn: world.random.whole(1, 2),
        ...(conversation === undefined ? {} : { conversation }),
      });
      told.push(...reports.flatMap(({ message }) => message ?? []));
      const opened = reports.find(({ type }) => type === "opened")?.conversation ?? conversation;
      if (opened !== undefined && !conversations.includes(opened)) conversations.push(opened);
      conversation = round % deathsOfOne === 0 ? undefined : opened;
    }
    const { unknown, ends } = await afterwards(world, conversations, told);
    const done = await linesOf(effects);
    const approved = await linesOf(approvals);
    for (const call of done) {
      expect(done.filter((other) => other === call)).toHaveLength(1);
      expect(approved).toContain(call);
      expect(ends.get(call), `${call} happened and nobody knows`).toHaveLength(1);
    }
    expect(done.length).toBeGreaterThan(0);
    expect(unknown.length).toBeGreaterThan(0);
    expect(done.length).toBeLessThanOrEqual(approved.length);
    for (const call of unknown) {
      expect(told.filter((message) => message.includes(`${call} `))).toHaveLength(1);
    }
    summarize(
      `effects: ${rounds.effects} kills, ${approved.length} approvals, ${done.length} effects, ` +
        `${unknown.length} calls unknown, each told once`,
    );
  },
  timeoutMs,
);

async function killedDoer(world: World, order: DoerOrder): Promise<Report[]> {
  const child = new Child("children/doer", order);
  if (order.death === "when_told") {
    const moment = world.random.pick(["exec_command_begin", "exec_command_end", "raw_response_item", "token_count"]);
    let isPlaying = false;
    await child.until(({ type }) => {
      // The outcome of the last death is reported and written before the first request; a death in between would report
      // it twice.
      isPlaying ||= type === "exec_approval_request";
      return isPlaying && type === moment;
    });
    await child.kill();
  } else {
    await child.gone;
  }
  return child.reports;
}

/** Opens every conversation once more, so that the last death is reported too, and checks their files. */
async function afterwards(world: World, conversations: readonly string[], told: string[]) {
  const ends = new Map<string, string[]>();
  for (const [index, conversation] of conversations.entries()) {
    const child = new Child("children/doer", {
      home: world.home,
      runtimeDirectory: world.runtimeDirectory,
      conversation,
      effects: join(world.home, "effects"),
      approvals: join(world.home, "approvals"),
      label: `last${index}`,
      death: "never",
      turn: 1,
    } satisfies DoerOrder);
    await child.gone;
    told.push(...child.reports.flatMap(({ message }) => message ?? []));
    for (const { payload } of await rolloutLines(rolloutPath(world, conversation))) {
      if (payload["type"] !== "function_call_output") continue;
      const call = String(payload["call_id"]);
      ends.set(call, [...(ends.get(call) ?? []), String(payload["output"])]);
    }
  }
  const unknown = [...ends].filter(([, outputs]) => outputs.includes(interrupted)).map(([call]) => call);
  return { ends, unknown };
}

async function linesOf(path: string): Promise<string[]> {
  return (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
}
