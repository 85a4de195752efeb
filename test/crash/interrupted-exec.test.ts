import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { Cli, finished } from "../support/cli.js";
import { marked, remainingProcesses } from "../support/processes.js";
import { Random } from "./random.js";
import { firstSeed, rounds, summarize, timeoutMs } from "./rounds.js";

/** Long enough to reach the running command, which never ends by itself. */
const maxDelayMs = 1_500;
/** How long a process may outlive cody. */
const boundMs = 5_000;

test(
  "Ctrl-C at random moments of exec ends it with 130, with intact files and without orphans",
  async () => {
    const seed = firstSeed();
    const random = new Random(seed);
    const cli = await Cli.open({ spawned: true });
    await cli.run(["config", "set", "toolEnv", marked("interrupted").name]);
    const times: number[] = [];
    for (let round = 0; round < rounds.interrupts; round += 1) {
      const mark = marked("interrupted");
      const prompt = "run echo started; sleep 1000 & sleep 1000";
      const args = ["exec", prompt, "--no-stdin", "--provider", "offline", "--sandbox", "danger-full-access"];
      const child = cli.start(args, { env: mark.env });
      const ended = finished(child);
      // The moment itself is what is tested, so it is not an event that could be awaited.
      await setTimeout(random.whole(0, maxDelayMs));
      const sentAt = performance.now();
      child.kill("SIGINT");
      const { code, signal, stderr } = await ended;
      times.push(performance.now() - sentAt);
      // Before cody has begun to listen, the signal itself ends the process; shells report 130 for both.
      const exit = { code: code ?? 130, signal: signal ?? "SIGINT" };
      expect({ seed, round, stderr, ...exit }).toMatchObject({ code: 130, signal: "SIGINT" });
      expect(await remainingProcesses(mark, boundMs)).toEqual([]);
    }
    const listed = JSON.parse((await cli.run(["list", "--json"])).stdout) as { id: string; damaged: boolean }[];
    expect(listed.filter(({ damaged }) => damaged)).toEqual([]);
    for (const { id } of listed.slice(0, 3)) {
      const again = ["exec", "resume", id, "what is 2+2?", "--no-stdin", "--provider", "offline", "-q"];
      expect(await cli.run(again)).toMatchObject({ code: 0, stdout: "2+2 = 4\n" });
    }
    const doctor = await cli.run(["doctor", "--json"]);
    expect(JSON.parse(doctor.stdout)).toMatchObject({ problems: 0 });
    const sorted = times.toSorted((one, other) => one - other);
    const at = (share: number): string => `${Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)} ms`;
    summarize(`interrupts: ${times.length} x SIGINT, exit after ${at(0.5)} (median), ${at(0.99)} (p99)`);
  },
  timeoutMs,
);
