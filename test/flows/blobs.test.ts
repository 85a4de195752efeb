import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { defineTool } from "../../src/tools/define-tool.js";
import { openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { calls, says, scripted } from "../support/scripted-provider.js";

const count = 20_000;
const command = ["sh", "-c", `seq 1 ${count}; echo api_key=XYZ`];
const settings = { sandbox: "danger-full-access" as const };

/** A conversation in which a command wrote more output than the model receives. */
async function longOutput(options: Parameters<typeof openConversation>[0]["config"] = {}) {
  const provider = scripted([calls("shell", "call_1", { command }), says("done"), says("again")]);
  const opened = await openConversation({
    provider,
    config: { ...settings, ...options },
    env: { PATH: process.env["PATH"] },
  });
  await opened.conversation.submit("count");
  await opened.events.until("task_complete");
  const path = opened.conversation.rolloutPath ?? "";
  return { ...opened, provider, path, folder: `${path}.blobs` };
}

test("the full text of a truncated output is stored once beside the rollout", async () => {
  const { provider, path, folder, conversation } = await longOutput();
  const output = JSON.stringify(provider.requests[1]?.input.at(-1));
  expect(output).toContain("bytes left out");
  const lines = await rolloutLines(path);
  const record = lines.find(({ payload }) => payload["type"] === "blob")?.payload;
  const [name = ""] = await readdir(folder);
  const whole = `${Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("")}api_key=[redacted]\n`;
  expect(record).toEqual({ type: "blob", call_id: "call_1", sha256: name, bytes: whole.length });
  expect(await readFile(join(folder, name), "utf8")).toBe(whole);
  const inline = lines.find(({ payload }) => payload["type"] === "function_call_output")?.payload;
  const live = conversation.getHistory().find(({ type }) => type === "function_call_output");
  expect(JSON.stringify(inline) === JSON.stringify(live).replace("XYZ", "[redacted]")).toBe(true);
});

test("a stored output is not part of the history, a resumed conversation or a fork", async () => {
  const { manager, home, provider, conversation, conversationId } = await longOutput();
  const live = conversation.getHistory();
  await manager.shutdown();
  const { manager: next } = await openManager({ home, providers: [provider] });
  const resumed = await next.resumeConversation(conversationId);
  expect(JSON.stringify(resumed.getHistory()) === JSON.stringify(live).replaceAll("XYZ", "[redacted]")).toBe(true);
  const { conversation: fork } = await next.forkConversation(conversationId);
  const lines = await rolloutLines(fork.rolloutPath);
  expect(lines.filter(({ payload }) => payload["type"] === "blob")).toEqual([]);
});

test("a truncated output of a custom tool is stored too, and a short output is not", async () => {
  const text = "a line\n".repeat(20_000);
  const long = defineTool({
    name: "long",
    description: "says much",
    parameters: z.strictObject({ times: z.number() }),
    readOnly: true,
    run: ({ times }) => text.slice(0, times),
  });
  const provider = scripted([
    calls("long", "call_1", { times: 100 }),
    calls("long", "call_2", { times: text.length }),
    says("done"),
  ]);
  const { conversation } = await openConversation({ provider, tools: [long] });
  await conversation.processMessage("go");
  const folder = `${conversation.rolloutPath ?? ""}.blobs`;
  const names = await readdir(folder);
  expect(names).toHaveLength(1);
  expect(await readFile(join(folder, names[0] ?? ""), "utf8")).toBe(text);
});

test("with maxBlobMegabytes 0 no output is stored", async () => {
  const { folder, path } = await longOutput({ persistence: { maxBlobMegabytes: 0 } });
  await expect(readdir(folder)).rejects.toThrow("ENOENT");
  expect((await rolloutLines(path)).filter(({ payload }) => payload["type"] === "blob")).toEqual([]);
});

test("an output that cannot be stored is reported, and the turn continues", async () => {
  const provider = scripted([says("hello"), calls("shell", "call_1", { command }), says("done")]);
  const { conversation, events } = await openConversation({
    provider,
    config: settings,
    env: { PATH: process.env["PATH"] },
  });
  await conversation.processMessage("hello");
  const folder = `${conversation.rolloutPath ?? ""}.blobs`;
  await writeFile(folder, "");
  await chmod(folder, 0o400);
  await conversation.submit("count");
  expect(await events.until("warning")).toEqual({
    type: "warning",
    message: "Cannot store the full output of call_1: part of its path is a file, not a directory",
  });
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "done", saved: true });
});
