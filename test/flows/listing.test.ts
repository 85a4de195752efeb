import { appendFile, readdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ConversationManager } from "../../src/manager.js";
import { homePaths } from "../../src/config/paths.js";
import { openManager } from "../support/open-conversation.js";
import { says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const model = { provider: "scripted", model: "m" };

function provider() {
  return scripted(Array.from({ length: 20 }, () => says("Hello")));
}

/** A home with conversations whose files are old. */
async function homeWith(count: number): Promise<{ home: string; ids: string[]; settle: () => Promise<void> }> {
  const home = await temporaryFolder();
  const { conversations } = homePaths(home);
  const { manager } = await openManager({ home, providers: [provider()] });
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { conversation, conversationId } = await manager.newConversation(model);
    await conversation.processMessage("hi");
    ids.unshift(conversationId);
  }
  await manager.shutdown();
  for (const [index, id] of ids.entries()) await utimes(join(conversations, `${id}.jsonl`), 1_000, 1_000 - index);
  // As if nothing had happened in the folder for long, so that the cached order is used.
  let times = 1_000;
  const settle = async () => {
    times += 1;
    await utimes(conversations, times, times);
  };
  await settle();
  return { home, ids, settle };
}

async function pageOf(manager: ConversationManager, limit: number): Promise<string[]> {
  return (await manager.listConversations({ limit })).map(({ id }) => id);
}

test("a page shows every turn at once, of this manager and of another one", async () => {
  const { home, ids, settle } = await homeWith(5);
  const [a = "", b = "", c = "", d = "", e = ""] = ids;
  const { manager } = await openManager({ home, providers: [provider()] });
  const { manager: other } = await openManager({ home, providers: [provider()] });
  expect(await pageOf(manager, 2)).toEqual([a, b]);
  const opened = await manager.resumeConversation(e);
  expect(await pageOf(manager, 2)).toEqual([a, b]);
  await settle();
  expect(await pageOf(other, 2)).toEqual([a, b]);
  await opened.processMessage("again");
  expect(await pageOf(manager, 2)).toEqual([e, a]);
  expect(await pageOf(other, 3)).toEqual([e, a, b]);
  const elsewhere = await other.resumeConversation(d);
  await elsewhere.processMessage("again");
  await elsewhere.shutdown();
  expect(await pageOf(manager, 3)).toEqual([d, e, a]);
  expect(await pageOf(other, 3)).toEqual([d, e, a]);
  expect((await manager.listConversations()).map(({ id }) => id)).toEqual([d, e, a, b, c]);
});

test("open conversations that are not on a page appear once the page reaches them", async () => {
  const { home, ids } = await homeWith(4);
  const { manager } = await openManager({ home, providers: [provider()] });
  for (const id of ids) await manager.resumeConversation(id);
  for (const limit of [1, 2, 3, 4, 5]) expect(await pageOf(manager, limit)).toEqual(ids.slice(0, limit));
  const { manager: unsaved } = await openManager({
    home,
    providers: [provider()],
    config: { persistence: { enabled: false } },
  });
  const { conversationId } = await unsaved.newConversation(model);
  expect(await pageOf(unsaved, 2)).toEqual([conversationId, ids[0]]);
});

test("deleting the cache or damaging it changes no page", async () => {
  const { home, ids } = await homeWith(4);
  const { manager } = await openManager({ home, providers: [provider()] });
  const pages = () => Promise.all([manager.listConversations({ limit: 3 }), manager.listConversations()]);
  const before = await pages();
  expect(before[1].map(({ id, title }) => [id, title])).toEqual(ids.map((id) => [id, "hi"]));
  expect(await pages()).toEqual(before);
  await rm(homePaths(home).heads);
  expect(await pages()).toEqual(before);
  await appendFile(homePaths(home).heads, "[1,2\n");
  expect(await pages()).toEqual(before);
  expect((await readdir(home)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});
