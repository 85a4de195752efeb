import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { ToolOutput } from "../../src/messages/tools/tool.js";
import type { ToolEvent } from "../../src/tools/tool.js";
import { bundleModule } from "../support/bundle.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { Watch } from "../support/watch.js";
import type { ToolCallOrder } from "./children/tool-call.js";

/** The output of a call and the peak memory of its process. */
export type ProcessOutput = ToolOutput & { readonly maxRssBytes: number };

export interface ToolProcess {
  readonly process: ChildProcess;
  readonly cwd: string;
  /** The whole text a command has printed so far, each time it prints more. */
  readonly printed: Watch<string>;
  readonly outputs: Watch<ProcessOutput>;
}

const source = fileURLToPath(new URL("children/tool-call.ts", import.meta.url));

/** Starts a child process that calls a tool; `limits` is a shell command to run first, such as `ulimit`. */
export async function toolProcess(order: Omit<ToolCallOrder, "cwd">, limits = ":"): Promise<ToolProcess> {
  const module = await bundleModule(source);
  onTestFinished(() => module[Symbol.asyncDispose]());
  const cwd = await temporaryFolder();
  const argv = [process.execPath, module.file, JSON.stringify({ ...order, cwd })];
  const child = spawn("/bin/sh", ["-c", `${limits}; exec "$@"`, "sh", ...argv], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const printed = new Watch<string>();
  const outputs = new Watch<ProcessOutput>();
  let text = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as ToolEvent | (ProcessOutput & { readonly type?: undefined });
    if (message.type === undefined) outputs.push(message);
    if (message.type === "exec_command_output_delta") printed.push((text += atob(message.chunk)));
  });
  return { process: child, cwd, printed, outputs };
}

/** The output of a tool call in a child process. */
export async function processOutput(order: Omit<ToolCallOrder, "cwd">, limits = ":"): Promise<ProcessOutput> {
  const { outputs } = await toolProcess(order, limits);
  return await outputs.until(() => true);
}
