import type { Tool, ToolContext, ToolEvent } from "../../src/tools/tool.js";
import type { ToolOutput } from "../../src/messages/tool.js";
import { FileStamps } from "../../src/tools/file-stamps.js";
import { Watch } from "../support/watch.js";
import { temporaryFolder } from "../support/temporary-folder.js";

export interface TestContext extends ToolContext {
  readonly events: Watch<ToolEvent>;
}

/** What a call runs with, in a folder of its own, and what it told. */
export async function toolContext(given: Partial<ToolContext> = {}): Promise<TestContext> {
  const events = new Watch<ToolEvent>();
  return {
    cwd: given.cwd ?? (await temporaryFolder()),
    sandbox: "workspace-write",
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

/** Runs a tool as a conversation does: the arguments are parsed first. */
export async function call(tool: Tool, args: unknown, context: ToolContext): Promise<ToolOutput> {
  return await tool.run(tool.parameters.parse(args), context);
}
