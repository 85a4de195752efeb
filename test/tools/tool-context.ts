import type { Tool, ToolContext, ToolEvent } from "../../src/tools/tool.js";
import type { ToolOutput } from "../../src/messages/tools/tool.js";
import { FileStamps } from "../../src/tools/files/file-stamps.js";
import { Watch } from "../support/watch.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The context shared by the calls of a test; `command` differs from call to call. */
export interface TestContext extends Omit<ToolContext, "command"> {
  readonly events: Watch<ToolEvent>;
}

/** A tool context with a temporary working folder, and the events that calls emit. */
export async function toolContext(given: Partial<ToolContext> = {}): Promise<TestContext> {
  const events = new Watch<ToolEvent>();
  return {
    cwd: given.cwd ?? (await temporaryFolder()),
    sandbox: "workspace-write",
    privatePaths: [],
    wasAsked: false,
    callId: "call_1",
    turnId: "turn_1",
    signal: new AbortController().signal,
    env: { PATH: process.env["PATH"] ?? "" },
    stamps: new FileStamps(),
    emit: events.push,
    ...given,
    events,
  };
}

/** Parses the arguments and runs a tool as a conversation does. */
export async function call(tool: Tool, args: unknown, context: TestContext): Promise<ToolOutput> {
  const run = await approved(tool, args, context).catch((error: Error) => error.message);
  return typeof run === "string" ? { content: run, success: false } : await run();
}

/** An approved call: its arguments are parsed and its command is known, but it has not started. */
export async function approved(tool: Tool, args: unknown, context: TestContext): Promise<() => Promise<ToolOutput>> {
  const parsed = tool.parameters.parse(args);
  const command = await tool.command(parsed, context);
  return () => tool.run(parsed, { ...context, command });
}
