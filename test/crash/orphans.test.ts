import { expect, test } from "vitest";
import { Cli, finished, saysOn } from "../support/cli.js";
import { remainingProcesses, marked, waitForProcesses } from "../support/processes.js";
import { rounds, summarize, timeoutMs } from "./rounds.js";

const ends = ["exit", "SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const;
type End = (typeof ends)[number];

/** How long a process may outlive the killed cody process that started it. */
const boundMs = 2_000;

/** A child, a grandchild that keeps the output open, one that ignores SIGTERM, and one in a session of its own. */
const staying = [
  "sleep 1000 &",
  "sh -c 'sleep 1000 & wait' &",
  `sh -c 'trap "" TERM HUP INT; sleep 1000; sleep 1000' &`,
  "setsid sh -c 'sleep 1000; true' >/dev/null 2>&1 &",
  "echo started;",
  "sleep 1000",
].join(" ");

/** A command that ends while its children still run. */
const leaving = "sleep 1000 & sh -c 'sleep 1000 & wait' & echo started";

test(
  "no process started by cody survives it, however cody ends",
  async () => {
    const cli = await Cli.open({ spawned: true });
    await cli.run(["config", "set", "toolEnv", marked("orphan").name]);
    const counts = new Map<End, number>();
    for (let round = 0; round < rounds.orphans; round += 1) {
      const end = ends[round % ends.length] ?? "exit";
      counts.set(end, (counts.get(end) ?? 0) + 1);
      expect(await leftBy(cli, end)).toEqual([]);
    }
    summarize(`orphans: 0 after ${[...counts].map(([end, count]) => `${count} x ${end}`).join(", ")}`);
  },
  timeoutMs,
);

/** The processes left by a run that ended in this way. */
async function leftBy(cli: Cli, end: End): Promise<string[]> {
  const mark = marked("orphan");
  const command = `run ${end === "exit" ? leaving : staying}`;
  const child = cli.start(["chat", command, "--json", "--sandbox", "danger-full-access"], { env: mark.env });
  const ended = finished(child);
  if (end !== "exit") {
    // "started" in base64, as in the output delta.
    await saysOn(child.stdout, Buffer.from("started\n").toString("base64"));
    await waitForProcesses(mark, 6);
    child.kill(end);
  }
  await ended;
  return await remainingProcesses(mark, boundMs);
}
