import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ConversationManager } from "../../src/manager.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { getRolloutHistory } from "../../src/rollouts/file/read.js";
import { Codex } from "../support/codex.js";
import { putCodexRollouts } from "../support/codex-home.js";
import { expectInOrder, inputOf, shape } from "../support/model-input.js";
import { openManager } from "../support/open-conversation.js";
import { openMock } from "../support/open-mock-llm.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const formats = fileURLToPath(new URL("../fixtures/forms/", import.meta.url));

/** A Codex whose model answers once, and a cody with its own home. */
async function openBoth() {
  const model = await openMock({ strict: false, script: [{ text: "I am Codex." }] });
  const codex = await Codex.open(model);
  const config = { provider: "offline", approvalPolicy: "never" as const, sandbox: "danger-full-access" as const };
  const { manager } = await openManager({ cwd: codex.cwd, config });
  return { codex, manager, requests: model.requests };
}

/** Copies an export to where Codex looks for it, and returns its id there. */
async function placeExport(manager: ConversationManager, codex: Codex, text: string): Promise<string> {
  const exported = await manager.exportConversation(text, { format: "codex" });
  const name = exported.fileName();
  const path = join(codex.home, "sessions", "2026", "11", "17", name);
  let content = "";
  for await (const piece of exported) content += piece;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return name.slice("rollout-2026-11-17T00-00-00-".length, -".jsonl".length);
}

/** The history that Codex sends to its model. */
function sentItems(history: readonly ResponseItem[]): unknown[] {
  return history.filter(({ type }) => ["message", "function_call", "function_call_output"].includes(type)).map(shape);
}

test("Codex lists and resumes cody's export with everything the model saw", async () => {
  const { codex, manager, requests } = await openBoth();
  const { conversation, conversationId } = await manager.newConversation({ name: "Alice's" });
  await conversation.processMessage("my name is Alice");
  expect(await conversation.compact()).toMatchObject({ status: "compacted" });
  await conversation.processMessage("run echo two");
  const history = conversation.getHistory();
  const id = await placeExport(manager, codex, conversationId);
  expect(await codex.list()).toMatchObject([{ id, preview: "my name is Alice" }]);
  expect(await codex.exec("resume", id, "Who am I?")).toMatchObject({ code: 0 });
  const given = inputOf(requests, 0);
  expectInOrder(given, sentItems(history));
  expect(given.at(-1)).toEqual({ user: "Who am I?" });
});

test.each(["turns", "turns-compacted", "messages", "entries-1", "entries-2"])(
  "Codex lists and resumes a rollout written in another format: %s",
  async (form) => {
    const { codex, manager, requests } = await openBoth();
    const path = join(formats, `${form}.jsonl`);
    const id = await placeExport(manager, codex, path);
    expect(await codex.list()).toMatchObject([{ id }]);
    expect(await codex.exec("resume", id, "Go on.")).toMatchObject({ code: 0 });
    expectInOrder(inputOf(requests, 0), sentItems((await getRolloutHistory(path)).history));
  },
);

test.each(["v0.58.0/tools", "v0.147.0/rollback", "v0.166.0/fork", "v0.166.0/revert", "v0.166.0/compact-midturn"])(
  "Codex resumes another Codex's conversation from one self-contained file: %s",
  async (scenario) => {
    const { codex, manager, requests } = await openBoth();
    const rollouts = await putCodexRollouts(await temporaryFolder(), scenario);
    const path = rollouts.at(-1)?.path ?? "";
    const id = await placeExport(manager, codex, path);
    expect(await codex.list()).toMatchObject([{ id }]);
    expect(await codex.exec("resume", id, "Go on.")).toMatchObject({ code: 0 });
    expectInOrder(inputOf(requests, 0), sentItems((await getRolloutHistory(path)).history));
  },
);
