import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

/** An environment variable that identifies processes even after they have changed their group or session. */
export interface Mark {
  readonly name: string;
  readonly value: string;
  readonly env: Readonly<Record<string, string>>;
}

export function marked(name: string): Mark {
  const mark = { name: `CODY_TEST_${name.toUpperCase()}`, value: randomUUID() };
  return { ...mark, env: { [mark.name]: mark.value } };
}

/** The commands of all living processes with the mark. Needs /proc. */
export async function processesWith({ name, value }: Mark): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      // A zombie process has no environment any more.
      if (!environ.split("\0").includes(`${name}=${value}`)) return [];
      const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return [`${pid} ${command.replaceAll("\0", " ").trim()}`];
    }),
  );
  return found.flat();
}

/** Waits until no process has the mark; returns those that still run at the deadline. */
export async function remainingProcesses(mark: Mark, boundMs: number): Promise<string[]> {
  const deadline = performance.now() + boundMs;
  for (;;) {
    const left = await processesWith(mark);
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise(setImmediate);
  }
}

/** Resolves when this many processes have the mark. */
export async function waitForProcesses(mark: Mark, count: number): Promise<void> {
  while ((await processesWith(mark)).length < count) await new Promise(setImmediate);
}

/** The command lines of all living processes that contain a text. */
export async function commandLinesWith(text: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const lines = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => ""));
  return (await Promise.all(lines)).filter((line) => line.includes(text));
}
