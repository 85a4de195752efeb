import { closeSync, openSync, readFileSync } from "node:fs";
import { builtInTools } from "../../../src/tools/toolbox.js";
import { FileStamps } from "../../../src/tools/files/file-stamps.js";

export interface ToolCallOrder {
  readonly tool: string;
  readonly args: object;
  readonly cwd: string;
  /** The number of free descriptors when the tool is called; by default as many as the system allows. */
  readonly freeDescriptors?: number;
  /** Repeat the call until the process is killed. */
  readonly forever?: boolean;
}

// Entry of a child process that calls a tool and prints its events and its output as JSON lines.
const order = JSON.parse(process.argv[2] ?? "") as ToolCallOrder;
const tool = builtInTools().find(({ name }) => name === order.tool);
if (tool === undefined) throw new Error(`no tool ${order.tool}`);
if (order.freeDescriptors !== undefined) useUpDescriptors(order.freeDescriptors);
const print = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const context = {
  cwd: order.cwd,
  sandbox: "workspace-write",
  privatePaths: [],
  wasAsked: false,
  callId: "call_1",
  turnId: "turn_1",
  signal: new AbortController().signal,
  env: { PATH: process.env["PATH"] ?? "" },
  stamps: new FileStamps(),
  emit: print,
} as const;
do {
  const args = tool.parameters.parse(order.args);
  const output = await tool.run(args, { ...context, command: await tool.command(args, context) });
  print({ ...output, maxRssBytes: maxRssBytes() });
} while (order.forever === true);

function useUpDescriptors(free: number): void {
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync("/dev/null", "r"));
  } catch {
    for (const descriptor of opened.slice(0, free)) closeSync(descriptor);
  }
}

/** Not from `resourceUsage`, where a process starts with the peak of its parent. */
function maxRssBytes(): number | undefined {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024;
  } catch {
    // Unknown when no descriptor is left to read it.
    return undefined;
  }
}
