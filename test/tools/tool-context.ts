import type { Tool, ToolContext, ToolEvent } from "../../src/tools/tool.js";
import type { ToolOutput } from "../../src/messages/tools/tool.js";
import { FileStamps } from "../../src/tools/files/file-stamps.js";
import { Watch } from "../support/watch.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** What holds for every call of a test: what it would run, each says itself. */
export interface TestContext extends Omit<ToolContext, "command"> {
  readonly events: Watch<ToolEvent>;
}

/** What a call runs with, in a folder of its own, and what it told. */
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

/** Runs a tool as a conversation does. */
export async function call(tool: Tool, args: unknown, context: TestContext): Promise<ToolOutput> {
  const run = await approved(tool, args, context).catch((error: Error) => error.message);
  return typeof run === "string" ? { content: run, success: false } : await run();
}

/** A call a person has said yes to: its arguments are parsed and what it would run is known, but it has not begun. */
export async function approved(tool: Tool, args: unknown, context: TestContext): Promise<() => Promise<ToolOutput>> {
  const parsed = tool.parameters.parse(args);
  const command = await tool.command(parsed, context);
  return () => tool.run(parsed, { ...context, command });
}
