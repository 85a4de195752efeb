import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTrust, setTrust } from "../../src/config/project/trust.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { remainingProcesses, processesWith } from "../support/processes.js";
import { receivedMessages, markedEntry } from "../support/mcp/servers.js";
import { calls, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const prompt = "› ";

async function projectWith(entry: unknown): Promise<string> {
  const root = await temporaryFolder();
  await mkdir(join(root, ".cody"));
  await writeFile(join(root, ".cody/config.json"), JSON.stringify({ mcp_servers: { theirs: entry } }));
  return root;
}

test("trusting a project enables its servers, their tools and their prompts", async () => {
  const file = join(await temporaryFolder(), "heard");
  const { entry, mark } = markedEntry([], { env: { HEARD: file } });
  const cwd = await projectWith(entry);
  const model = scripted([says("Hello, Ann."), calls("mcp__theirs__echo", "c1", { text: "hi" }), says("Done.")]);
  const env = { PATH: process.env["PATH"] ?? "" };
  const terminal = await FakeTerminal.open(model, { cwd, env });
  const running = terminal.run();
  await terminal.shows(`The project ${cwd} has its own configuration:\n  the MCP server theirs: `);
  await terminal.shows("In a trusted project, models may also save knowledge without approval.\n");
  await terminal.shows("Trust this project and apply these settings? [y/n]");
  expect(await processesWith(mark)).toEqual([]);
  terminal.type("y\r");
  await terminal.shows("Type /help for commands.");
  await terminal.shows(prompt);
  terminal.type("/mcp\r");
  await terminal.shows(`✓ theirs: 15 tools\nPrompts:\n  /mcp__theirs__greet who="…" [how="…"]  Greets\n`);
  terminal.type("/mcp__theirs__greet how=kindly\r");
  await terminal.tells('Missing argument: who. Type: /mcp__theirs__greet who="…" [how="…"]');
  expect((await receivedMessages(file)).map(({ method }) => method)).not.toContain("prompts/get");
  terminal.type('/mcp__theirs__greet who="Ann Lee" how=kindly\r');
  await terminal.shows("Hello, Ann.\n");
  expect(JSON.stringify(model.requests[0]?.input)).toContain("Greet Ann Lee kindly");
  terminal.type("/mcp__theirs__nothing\r");
  await terminal.tells("Unknown prompt /mcp__theirs__nothing.");
  terminal.type("echo\r");
  await terminal.shows("mcp__theirs__echo hi\n");
  await terminal.shows("y/a/n/s");
  terminal.type("y\r");
  await terminal.shows("  echo: hi\n");
  await terminal.shows("Done.\n");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
});

test("declining to trust a project is remembered", async () => {
  const { entry, mark } = markedEntry();
  const cwd = await projectWith(entry);
  const terminal = await FakeTerminal.open(scripted([says("Hello.")]), { cwd });
  const running = terminal.run();
  await terminal.shows("Trust this project and apply these settings? [y/n]");
  terminal.type("n\r");
  await terminal.shows("Type /help for commands.");
  terminal.type("hello\r");
  await terminal.shows("Hello.\n");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
  expect([...(await readTrust(terminal.home))]).toEqual([[cwd, "untrusted"]]);
  expect(await processesWith(mark)).toEqual([]);
});

test("a turn started by a server's prompt asks before it saves knowledge, even in a trusted project", async () => {
  const { entry } = markedEntry();
  const cwd = await projectWith(entry);
  const saves = calls("add_knowledge", "c1", { type: "pattern", content: "Use pnpm" });
  const env = { PATH: process.env["PATH"] ?? "" };
  const terminal = await FakeTerminal.open(scripted([saves, says("Done.")]), { cwd, env });
  await setTrust(terminal.home, cwd, "trusted");
  const running = terminal.run();
  await terminal.shows(prompt);
  terminal.type("/mcp__theirs__greet who=Ann\r");
  await terminal.shows("(this turn read content from outside the project (the message)");
  await terminal.shows("y/a/n/s");
  terminal.type("n\r");
  await terminal.shows("Done.\n");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
});
