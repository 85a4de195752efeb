import { closeSync, openSync } from "node:fs";
import { FileStamps } from "../../../src/tools/file-stamps.js";
import { shell } from "../../../src/tools/shell.js";

export interface ShellCallOrder {
  readonly args: object;
  /** How many descriptors are free when the tool is called; as many as the system allows unless said. */
  readonly freeDescriptors?: number;
}

// Calls the shell tool once, in a process of its own, and says what it tells and what comes out.
const { args, freeDescriptors } = JSON.parse(process.argv[2] ?? "") as ShellCallOrder;
if (freeDescriptors !== undefined) useUpDescriptors(freeDescriptors);
const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const before = performance.eventLoopUtilization();
const output = await shell.run(shell.parameters.parse(args), {
  cwd: process.cwd(),
  sandbox: "workspace-write",
  callId: "call_1",
  turnId: "turn_1",
  signal: new AbortController().signal,
  env: { PATH: process.env["PATH"] ?? "" },
  stamps: new FileStamps(),
  emit: say,
});
const { utilization } = performance.eventLoopUtilization(before);
say({ ...output, utilization, maxRssBytes: process.resourceUsage().maxRSS * 1024 });

function useUpDescriptors(free: number): void {
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync("/dev/null", "r"));
  } catch {
    for (const descriptor of opened.slice(0, free)) closeSync(descriptor);
  }
}
