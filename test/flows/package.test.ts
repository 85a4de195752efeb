import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const entry = new URL("../../dist/index.js", import.meta.url).href;

/** Runs a script that uses the built package as a program would. */
async function runScript(script: string, flags: readonly string[] = []) {
  const home = await temporaryFolder();
  const options = { home, cwd: home, env: { XDG_RUNTIME_DIR: home } };
  const source = `import { ConversationManager } from ${JSON.stringify(entry)};
    const manager = new ConversationManager(${JSON.stringify(options)});
    ${script}`;
  const output = await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "-e", source]);
  return { ...output, sockets: await readdir(join(home, "cody")) };
}

test("a program imports the package, runs a turn and ends", async () => {
  const { stdout } = await runScript(`
    const { conversation } = await manager.newConversation();
    await conversation.submit([{ type: "text", text: "What is 6*7?" }]);
    for await (const { msg } of conversation.events()) {
      if (msg.type === "task_complete") { console.log(msg.last_agent_message, msg.saved); break; }
    }
    await manager.shutdown();`);
  expect(stdout).toMatch(/42.* true\n$/);
});

test("a program that forgets to shut down exits with everything saved", async () => {
  const { stdout, sockets } = await runScript(`
    const { conversation } = await manager.newConversation();
    await conversation.processMessage("my name is Alice");
    console.log(conversation.rolloutPath !== null);`);
  expect({ stdout, sockets }).toEqual({ stdout: "true\n", sockets: [] });
});

test("a program replaces the history of a conversation with its own compaction", async () => {
  const { stdout } = await runScript(`
    const { buildCompactedHistory, collectUserMessages } = await import(${JSON.stringify(entry)});
    const { conversation, conversationId } = await manager.newConversation({ name: "Sums" });
    await conversation.processMessage("What is 6*7?");
    const state = () => JSON.stringify([conversation.id, conversation.name, conversation.settings, conversation.turns, conversation.usage]);
    const before = state();
    const context = conversation.getInitialContext();
    const built = buildCompactedHistory(context, collectUserMessages(conversation.getHistory()), "It is 42.");
    await conversation.replaceHistory([...built, { type: "ghost_snapshot", data: "state" }]);
    console.log(context[0].content[0].text.startsWith("You are cody"), state() === before);
    await conversation.processMessage([{ type: "text", text: "my name is Alice" }]);
    const history = JSON.stringify(conversation.getHistory());
    console.log(conversation.getHistory({ content: "text" }).map(({ type, role, content }) => content?.[0].type === "text" ? role : type));
    await conversation.shutdown();
    console.log(JSON.stringify((await manager.resumeConversation(conversationId)).getHistory()) === history);
    await manager.shutdown();`);
  expect(stdout).toBe(`true true
[ 'developer', 'user', 'user', 'ghost_snapshot', 'user', 'assistant' ]
true
`);
});

test("an uncaught error of the library prints a short, readable trace", async () => {
  const failed = runScript(`await manager.resumeConversation("no such conversation");`);
  const { stderr } = (await failed.catch((error: unknown) => error)) as { readonly stderr: string };
  expect(stderr).toContain("Conversation no such conversation not found");
  expect(stderr).toContain("at ConversationManager.resumeConversation");
  expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(250);
});

test("a program counts tokens in threads that do not keep it alive", async () => {
  const { stdout } = await runScript(`
    const { conversation } = await manager.newConversation();
    console.log(await manager.countTokens(["tiktoken is great!", ""], { model: "gpt-4o" }));`);
  expect(stdout).toBe("[ 6, 0 ]\n");
});

test("the main thread does no synchronous file I/O while conversations run", async () => {
  const { stdout, stderr } = await runScript(
    `
    await new Promise(setImmediate);
    const opened = await Promise.all(Array.from({ length: 5 }, () => manager.newConversation()));
    await Promise.all(opened.map(({ conversation }) => conversation.processMessage("What is 2+2?")));
    const [{ conversationId }] = opened;
    await manager.getConversation(conversationId).shutdown();
    await (await manager.resumeConversation(conversationId)).processMessage("and 3+3?");
    console.log((await manager.listConversations()).length);
    await manager.shutdown();`,
    ["--trace-sync-io"],
  );
  expect(stdout).toBe("5\n");
  const warnings = stderr.split("WARNING: Detected use of sync API").slice(1);
  // Creating ids takes random bytes, which Node reports as synchronous too; that shows that the flag works.
  expect(warnings.length).toBeGreaterThan(0);
  // Node itself loads modules synchronously.
  const files = warnings.filter((stack) => stack.includes("node:fs:") && !stack.includes("node:internal/modules/"));
  expect(files).toEqual([]);
});
