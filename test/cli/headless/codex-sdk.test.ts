import { Codex, type ThreadEvent } from "@openai/codex-sdk";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { MockReply } from "../../../src/mock-llm/script.js";
import { Cli } from "../../support/cli.js";
import { pathWithSandbox } from "../../support/fake-sandbox.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { mockKey, mockLlm } from "../../support/wire-apis.js";

const main = fileURLToPath(new URL("../../../dist/cli/main.cjs", import.meta.url));

/** The unmodified SDK, with cody in place of its own binary. */
async function openSdk(
  script?: readonly MockReply[],
  extra: Readonly<Record<string, string>> = {},
): Promise<{ sdk: Codex; cli: Cli; folder: string; requests: () => unknown[] }> {
  const mock = await mockLlm(script);
  const cli = await Cli.open({ spawned: true });
  const path = join(cli.project, "codex");
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  await chmod(path, 0o755);
  const env = Object.fromEntries(
    Object.entries({ ...cli.env, ...extra }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const sdk = new Codex({ codexPathOverride: path, baseUrl: `${mock.url}/v1`, apiKey: mockKey, env });
  return { sdk, cli, folder: cli.project, requests: () => mock.requests.map(({ body }) => body) };
}

test("a thread runs, and another object resumes it by its id", async () => {
  const { sdk, folder } = await openSdk();
  const thread = sdk.startThread({ workingDirectory: folder, skipGitRepoCheck: true });
  expect((await thread.run("my name is Ada")).finalResponse).toBe("Noted: your name is Ada.");
  expect(thread.id).toMatch(/^[0-9a-f-]{36}$/);
  const again = sdk.resumeThread(thread.id ?? "", { workingDirectory: folder });
  const turn = await again.run("what is my name?");
  expect(turn.finalResponse).toBe("You told me: your name is Ada.");
  expect(turn.usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
  expect(again.id).toBe(thread.id);
});

test("a streamed turn has its items in order", async () => {
  const call: MockReply = { calls: [{ name: "shell", arguments: { command: "echo seen" } }] };
  const { sdk, folder } = await openSdk([call, { text: "I saw it." }]);
  const thread = sdk.startThread({ workingDirectory: folder, sandboxMode: "danger-full-access" });
  const events: ThreadEvent[] = [];
  for await (const event of (await thread.runStreamed("look")).events) events.push(event);
  expect(events.map(({ type }) => type)).toEqual([
    "thread.started",
    "turn.started",
    "item.started",
    "item.completed",
    "item.completed",
    "turn.completed",
  ]);
  expect(events[3]).toMatchObject({
    item: { type: "command_execution", aggregated_output: "seen\n", status: "completed" },
  });
  expect(events[4]).toMatchObject({ item: { type: "agent_message", text: "I saw it." } });
});

test("a schema is passed on, and images are attached", async () => {
  const { sdk, folder, requests } = await openSdk();
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  await writeFile(join(folder, "dot.png"), Buffer.from(png, "base64"));
  const outputSchema = {
    type: "object",
    properties: { answer: { type: "string" } },
    required: ["answer"],
    additionalProperties: false,
  };
  const input = [
    { type: "text" as const, text: "what is 6 * 7?" },
    { type: "local_image" as const, path: join(folder, "dot.png") },
  ];
  const turn = await sdk.startThread({ workingDirectory: folder }).run(input, { outputSchema });
  expect(JSON.parse(turn.finalResponse)).toEqual({ answer: expect.stringContaining("42") });
  expect(JSON.stringify(requests())).toContain("data:image/png;base64");
});

test("an aborted turn rejects, and a failed one reports its reason", async () => {
  const { sdk, folder } = await openSdk([{ text: "never ends", fault: { type: "stall", afterBytes: 300 } }]);
  const abort = new AbortController();
  const { events } = await sdk.startThread({ workingDirectory: folder }).runStreamed("wait", { signal: abort.signal });
  const read = async (): Promise<void> => {
    for await (const event of events) if (event.type === "turn.started") abort.abort();
  };
  await expect(read()).rejects.toThrow(/abort/i);
  const failing = await openSdk([{ fault: { type: "status", status: 400, message: "bad thing" } }]);
  const failed = failing.sdk.startThread({ workingDirectory: failing.folder }).run("fail");
  await expect(failed).rejects.toThrow(/bad thing/);
});

test("twenty threads run at the same time", async () => {
  const { sdk, cli, folder } = await openSdk();
  const names = Array.from({ length: 20 }, (_, index) => `Ada${index}`);
  const answers = await Promise.all(
    names.map(
      async (name) => (await sdk.startThread({ workingDirectory: folder }).run(`my name is ${name}`)).finalResponse,
    ),
  );
  expect(answers).toEqual(names.map((name) => `Noted: your name is ${name}.`));
  expect(await cli.ids()).toHaveLength(names.length);
});

test("additional directories may be written", async () => {
  const other = await temporaryFolder();
  const write: MockReply = { calls: [{ name: "write_file", arguments: { path: join(other, "a.txt"), content: "x" } }] };
  const { sdk, folder } = await openSdk([write, { text: "Done." }], { PATH: pathWithSandbox });
  const thread = sdk.startThread({
    workingDirectory: folder,
    additionalDirectories: [other],
    sandboxMode: "workspace-write",
  });
  expect((await thread.run("write")).finalResponse).toBe("Done.");
  expect(await readFile(join(other, "a.txt"), "utf8")).toBe("x");
});
