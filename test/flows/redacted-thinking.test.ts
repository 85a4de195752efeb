import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { MockReply } from "../../src/mock-llm/script.js";
import { redactedData, signatureOf } from "../../src/mock-llm/signatures.js";
import type { MockLlm } from "../../src/mock-llm/server.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { mockLlm, type SpokenApi, wireApis, wireEnv, wireManager } from "../support/wire-apis.js";

const entry = new URL("../../dist/index.js", import.meta.url).href;
const [, chat, messages] = wireApis as [SpokenApi, SpokenApi, SpokenApi];
const { model } = messages;
const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
const effort = "high";

/** Signed and redacted thinking, which must be passed on unchanged whatever it contains. */
const first = { reasoning: `Wörter 🙂 password=hunter2 ${secret}\n\n  `, redacted: `ÿþ password=hunter2 ${secret}` };
const second = { reasoning: "Now I know.\u0000\u2028", redacted: "More of it." };

function blocksOf({ reasoning, redacted }: typeof first) {
  return [
    { type: "thinking", thinking: reasoning, signature: signatureOf(reasoning, model) },
    { type: "redacted_thinking", data: redactedData(redacted, model) },
  ];
}

/** The thinking blocks in each request. */
function thoughtsIn({ requests }: MockLlm): unknown[][] {
  return requests.map(({ body }) => {
    const said = (body as { messages: { content: unknown }[] }).messages.flatMap(({ content }) => content);
    return said.filter((block) => String(Object(block).type).endsWith("thinking"));
  });
}

/** Runs a script in a child process with the built package. */
async function runScript(script: string, mock: MockLlm, home: string): Promise<void> {
  const { provider, api } = messages;
  const env = { ...wireEnv(mock), XDG_RUNTIME_DIR: home };
  const options = { home, cwd: home, env, config: { provider, api, model } };
  const source = `import { ConversationManager } from ${JSON.stringify(entry)};
    const manager = new ConversationManager(${JSON.stringify(options)});
    ${script}`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", source]);
}

const look: MockReply = { ...first, calls: [{ name: "read_file", arguments: { path: "a" } }] };

test("signed and redacted thinking is sent back byte for byte, in its turn and after a resume", async () => {
  const mock = await mockLlm([look, { ...second, text: "Nothing there" }, { text: "No" }]);
  const { manager, home } = await wireManager(mock, messages);
  const { conversation, conversationId } = await manager.newConversation({ effort });
  await conversation.processMessage("What is in a?");
  await manager.shutdown();
  const after = await wireManager(mock, messages, { home });
  await (await after.manager.resumeConversation(conversationId, { effort })).processMessage("Sure?");
  expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
  expect(thoughtsIn(mock)).toEqual([[], blocksOf(first), [...blocksOf(first), ...blocksOf(second)]]);
});

test("thinking before a call that awaited approval when its process died is sent back by the new process", async () => {
  const calls = [{ name: "shell", arguments: { command: ["true"] } }];
  const mock = await mockLlm([{ ...first, calls }, { ...second, text: "Done" }, { text: "Yes" }]);
  const home = await temporaryFolder();
  const begin = `const { conversation } = await manager.newConversation({ effort: "${effort}" });
    await conversation.submit("Do it");
    for await (const { msg } of conversation.events()) {
      if (msg.type !== "exec_approval_request") continue;
      await conversation.flush();
      process.kill(process.pid, "SIGKILL");
    }`;
  await expect(runScript(begin, mock, home)).rejects.toMatchObject({ signal: "SIGKILL" });
  const goOn = `const [{ id }] = await manager.listConversations();
    const conversation = await manager.resumeConversation(id, { effort: "${effort}" });
    for await (const { msg } of conversation.events()) {
      if (msg.type === "task_complete") break;
      if (msg.type !== "exec_approval_request") continue;
      await conversation.submit({ type: "exec_approval", id: msg.approval_id, decision: "approved" });
    }
    await conversation.processMessage("Really?");
    await manager.shutdown();`;
  await runScript(goOn, mock, home);
  expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
  expect(thoughtsIn(mock)).toEqual([[], blocksOf(first), [...blocksOf(first), ...blocksOf(second)]]);
});

test("thinking is not sent over another API, and is sent again when the conversation switches back", async () => {
  const mock = await mockLlm([look, { text: "Nothing there" }, { text: "Hi" }, { text: "Back" }]);
  const { manager, home } = await wireManager(mock, messages);
  const { conversation, conversationId } = await manager.newConversation({ effort });
  await conversation.processMessage("What is in a?");
  await manager.shutdown();
  for (const spoken of [chat, messages]) {
    const { manager: next } = await wireManager(mock, spoken, { home });
    const { provider, model: to } = spoken;
    await (await next.resumeConversation(conversationId, { provider, model: to, effort })).processMessage("And?");
    await next.shutdown();
  }
  expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined, undefined]);
  expect(JSON.stringify(mock.requests[2]?.body)).not.toContain(redactedData(first.redacted, model));
  expect(thoughtsIn(mock)[3]).toEqual(blocksOf(first));
});
