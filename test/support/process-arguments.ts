import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** The command lines of all processes, as anybody on this machine may read them. */
export async function argumentsOfProcesses(): Promise<string> {
  // Where there is no `ps`, as in a small container, the system's own list is the same.
  if (process.platform === "linux") return (await Promise.all((await readdir("/proc")).map(commandLineOf))).join("\n");
  const { stdout } = await promisify(execFile)("ps", ["-axww", "-o", "args"], { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

async function commandLineOf(process: string): Promise<string> {
  return /^\d+$/.test(process) ? await readFile(`/proc/${process}/cmdline`, "utf8").catch(() => "") : "";
}
