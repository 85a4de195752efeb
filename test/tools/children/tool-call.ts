import { closeSync, openSync, readFileSync } from "node:fs";
import { builtInTools } from "../../../src/tools/toolbox.js";
import { FileStamps } from "../../../src/tools/files/file-stamps.js";

export interface ToolCallOrder {
  readonly tool: string;
  readonly args: object;
  readonly cwd: string;
  /** How many descriptors are free when the tool is called; as many as the system allows unless said. */
  readonly freeDescriptors?: number;
  /** Again and again, until the process is killed. */
  readonly forever?: boolean;
}

// Calls a tool in a process of its own, and says what it tells and what comes out.
const order = JSON.parse(process.argv[2] ?? "") as ToolCallOrder;
const tool = builtInTools().find(({ name }) => name === order.tool);
if (tool === undefined) throw new Error(`no tool ${order.tool}`);
if (order.freeDescriptors !== undefined) useUpDescriptors(order.freeDescriptors);
const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
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
  emit: say,
} as const;
do {
  const args = tool.parameters.parse(order.args);
  const output = await tool.run(args, { ...context, command: await tool.command(args, context) });
  say({ ...output, maxRssBytes: maxRssBytes() });
} while (order.forever === true);

function useUpDescriptors(free: number): void {
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync("/dev/null", "r"));
  } catch {
    for (const descriptor of opened.slice(0, free)) closeSync(descriptor);
  }
}

/** Not `resourceUsage`: there a process begins with what the one that started it had. */
function maxRssBytes(): number | undefined {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024;
  } catch {
    // Without a descriptor left it cannot be known.
    return undefined;
  }
}
