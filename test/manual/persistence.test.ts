import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const script = fileURLToPath(new URL("persistence.sh", import.meta.url));
const { PATH } = process.env;

test("the eight scenarios of the manual test pass as written", { timeout: 300_000 }, async () => {
  const { pids, env, temporary } = await recordedNode("");
  const { stdout } = await promisify(execFile)("bash", [script], { env });
  expect(stdout).toContain("All eight scenarios passed.");
  expect(await findLeftovers(pids, temporary)).toEqual({ processes: [], files: [] });
});

test("the server of the manual test stops when a step fails", { timeout: 120_000 }, async () => {
  const { pids, env, temporary } = await recordedNode(`exit 1`);
  const run = spawn("bash", [script], { env, stdio: "ignore" });
  expect(await once(run, "exit")).toEqual([1, null]);
  expect(await findLeftovers(pids, temporary)).toEqual({ processes: [], files: [] });
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "the server of the manual test stops with the script on %s",
  { timeout: 120_000 },
  async (signal) => {
    const { pids, env, temporary, stopped } = await recordedNode(`read -r <"$TMPDIR/never"`);
    // In its own process group, as in a terminal: Ctrl-C reaches the running command and the script.
    const run = spawn("bash", [script], { env, stdio: "ignore", detached: true });
    await Promise.race([waitForFile(stopped, run), once(run, "exit")]);
    process.kill(-(run.pid ?? 0), signal);
    await once(run, "exit");
    expect(await findLeftovers(pids, temporary)).toEqual({ processes: [], files: [] });
  },
);

/** A `node` first on the path that records its process id, and runs something else for `cody new`, an early step. */
async function recordedNode(insteadOfNew: string) {
  const folder = await temporaryFolder();
  const bin = join(folder, "bin");
  const temporary = join(folder, "tmp");
  const pids = join(folder, "pids");
  const stopped = join(folder, "stopped");
  // The last scenario runs as another user when the tests run as root.
  await chmod(folder, 0o755);
  for (const made of [bin, temporary]) await mkdir(made);
  await writeFile(pids, "");
  await chmod(pids, 0o666);
  // The pipe exists before a signal may come: bash survives a SIGINT that comes while a command of it succeeds.
  const instead =
    insteadOfNew === ""
      ? ""
      : `case "$2" in new) mkfifo "$TMPDIR/never"; echo "$2" >"${stopped}"; ${insteadOfNew};; esac\n`;
  const wrapper = `#!/bin/bash\necho "$$ $2" >>"${pids}"\n${instead}exec "${process.execPath}" "$@"\n`;
  await writeFile(join(bin, "node"), wrapper, { mode: 0o755 });
  return { env: { PATH: `${bin}:${PATH}`, TMPDIR: temporary }, pids, temporary, stopped };
}

/** The server process, if it still runs, and the files the script left in the temporary folder. */
async function findLeftovers(pids: string, temporary: string) {
  const started = (await readFile(pids, "utf8")).split("\n").filter((line) => line.endsWith(" mock-llm"));
  expect(started).toHaveLength(1);
  const processes = started.filter((line) => isRunning(Number.parseInt(line, 10)));
  for (const line of processes) process.kill(Number.parseInt(line, 10), "SIGKILL");
  return { processes, files: (await readdir(temporary)).filter((name) => name !== "never") };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function waitForFile(path: string, run: ChildProcess): Promise<void> {
  while (run.exitCode === null) {
    if ((await readFile(path, "utf8").catch(() => "")) !== "") return;
    await new Promise(setImmediate);
  }
}
