import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { type Behaviour, busyProvider, crashingTool } from "../support/busy-provider.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { marked, processesWith } from "../support/processes.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const many = 200;
/** Only some conversations run a command: a process costs more than everything else a conversation does. */
const runsCommands = (index: number): boolean => index % 4 === 0;

const hang = defineTool({
  name: "hang",
  description: "",
  parameters: z.strictObject({}),
  run: () => new Promise<string>(() => undefined),
});

async function openMany() {
  const root = await temporaryFolder();
  const mark = marked("many");
  const { manager } = await openManager({
    providers: [busyProvider],
    tools: [hang, crashingTool],
    config: { sandbox: "danger-full-access", toolEnv: [mark.name] },
    env: { ...mark.env, PATH: process.env["PATH"] },
  });
  async function open(model: Behaviour, index: number): Promise<Conversation> {
    const cwd = join(root, `${index}`);
    await mkdir(cwd);
    await writeFile(join(cwd, "notes.txt"), `notes of ${index}\n`);
    return (await manager.newConversation({ provider: "busy", model, cwd })).conversation;
  }
  return { manager, open, mark };
}

const endTypes = ["task_complete", "turn_aborted"] as const;

async function endsInFile(conversation: Conversation): Promise<string[]> {
  const lines = await rolloutLines(conversation.rolloutPath);
  const ids = lines.flatMap(({ payload }) => (payload["type"] === "task_started" ? [String(payload["turn_id"])] : []));
  const ends = lines.filter(({ payload }) => endTypes.some((type) => type === payload["type"]));
  // Each started turn ends exactly once.
  expect(ends.map(({ payload }) => payload["turn_id"])).toEqual(ids);
  return ends.map(({ payload }) => String(payload["type"]));
}

async function outputsInFile(conversation: Conversation): Promise<unknown[]> {
  const lines = await rolloutLines(conversation.rolloutPath);
  return lines.flatMap(({ payload }) => (payload["type"] === "function_call_output" ? [payload["output"]] : []));
}

test("200 conversations run at once, whatever one of them does", { timeout: 120_000 }, async () => {
  const { manager, open } = await openMany();
  const crashing = await open("crashes", 0);
  const flooding = await open("floods", 1);
  const hanging = await open("hangs_in_a_tool", 2);
  const unread = await open("works", 3);
  const special = [crashing, flooding, hanging, unread];
  const working = await Promise.all(
    Array.from({ length: many - special.length }, (_, index) =>
      open(runsCommands(index) ? "works_with_commands" : "works", index + special.length),
    ),
  );
  const logs = working.map((conversation) => new EventLog(conversation));
  const crash = new EventLog(crashing);
  const flood = new EventLog(flooding);

  await Promise.all([...special, ...working].map((conversation) => conversation.submit("go")));
  const ends = await Promise.all(logs.map((log) => log.untilAny(endTypes)));
  expect(ends.map(({ type }) => type)).toEqual(working.map(() => "task_complete"));
  expect((await crash.untilAny(endTypes)).type).toBe("turn_aborted");
  expect((await flood.untilAny(endTypes)).type).toBe("task_complete");
  expect(hanging.turn?.status).toEqual({ status: "awaiting_tool_result", callId: "a" });

  await manager.shutdown();
  for (const [index, conversation] of working.entries()) {
    expect(await endsInFile(conversation)).toEqual(["task_complete"]);
    const outputs = await outputsInFile(conversation);
    const notes = `notes of ${index + special.length}\n`;
    const ran = expect.stringMatching(new RegExp(`^Exit code: 0\\n[^]*\\n${notes}$`));
    const missing = expect.stringContaining("missing.txt");
    const written = expect.stringContaining("result.txt");
    expect(outputs).toEqual([expect.stringContaining(notes), missing, ...(runsCommands(index) ? [ran] : []), written]);
  }
  expect(await endsInFile(crashing)).toEqual(["turn_aborted"]);
  expect(await endsInFile(flooding)).toEqual(["task_complete"]);
  expect(await endsInFile(hanging)).toEqual(["turn_aborted"]);
  expect(await endsInFile(unread)).toEqual(["task_complete"]);
});

test(
  "a shutdown while 200 turns run ends and records every turn and leaves no process",
  { timeout: 120_000 },
  async () => {
    const { manager, open, mark } = await openMany();
    const behaviours = ["hangs", "hangs_in_a_tool", "hangs", "hangs_in_a_command"] as const;
    const conversations = await Promise.all(
      Array.from({ length: many }, (_, index) => open(behaviours[index % behaviours.length] ?? "hangs", index)),
    );
    const logs = conversations.map((conversation) => new EventLog(conversation));
    await Promise.all(conversations.map((conversation) => conversation.submit("go")));
    await Promise.all(
      logs.map((log, index) =>
        log.until(index % behaviours.length === 3 ? "exec_command_output_delta" : "task_started"),
      ),
    );
    expect((await processesWith(mark)).length).toBeGreaterThan(many / behaviours.length);
    await manager.shutdown();
    expect(await processesWith(mark)).toEqual([]);
    for (const [index, conversation] of conversations.entries()) {
      expect(await endsInFile(conversation)).toEqual(["turn_aborted"]);
      expect(await outputsInFile(conversation)).toHaveLength(index % 2);
    }
  },
);
