import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { ToolOutput } from "../../src/messages/tool.js";
import type { ToolEvent } from "../../src/tools/tool.js";
import type { ShellCallOrder } from "./children/shell-call.js";
import { bundleModule } from "../support/bundle.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { Watch } from "../support/watch.js";

const source = fileURLToPath(new URL("children/shell-call.ts", import.meta.url));

export interface ShellProcess {
  readonly process: ChildProcess;
  /** All the command has printed so far, each time it prints more. */
  readonly printed: Watch<string>;
  readonly output: Promise<ShellOutput>;
}

/** What came out, how busy its thread was, and how much memory the process used. */
export type ShellOutput = ToolOutput & { readonly utilization: number; readonly maxRssBytes: number };

/** A process of its own that calls the shell tool; `limits` is shell that runs before, such as `ulimit`. */
export async function shellProcess(order: ShellCallOrder, limits = ":"): Promise<ShellProcess> {
  const module = await bundleModule(source);
  onTestFinished(() => module[Symbol.asyncDispose]());
  const argv = ["-c", `${limits}; exec "$@"`, "sh", process.execPath, module.file, JSON.stringify(order)];
  const child = spawn("/bin/sh", argv, { cwd: await temporaryFolder(), stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const printed = new Watch<string>();
  let text = "";
  const output = new Promise<ShellOutput>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const said = JSON.parse(line) as ToolEvent | (ShellOutput & { readonly type?: undefined });
      if (said.type === undefined) resolve(said);
      if (said.type === "exec_command_output_delta") printed.push((text += atob(said.chunk)));
    });
  });
  return { process: child, printed, output };
}
