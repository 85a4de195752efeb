import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The command lines of all processes, as anybody on this machine may read them. */
export async function argumentsOfProcesses(): Promise<string> {
  const { stdout } = await promisify(execFile)("ps", ["-axww", "-o", "args"], { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
