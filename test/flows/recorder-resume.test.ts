import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { RolloutRecorder, type TurnRecorder } from "../../src/actors/rollout-writer/recorder.js";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import type { RolloutTurn } from "../../src/rollouts/turns.js";
import { callsAt, compactingConfig, saysAt, texts } from "../support/compacting.js";
import { createMockRecorder } from "../support/mock-recorder.js";
import { openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { fails, type Reply, says, scripted, user } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A recorder with only the methods of the seed document's interface; it returns only the records `keeps` accepts. */
function plainRecorder(keeps: (record: object) => boolean, hasCompacted = true): TurnRecorder {
  const records = new Map<string, string[]>();
  const add = (id: string, record: object): void => {
    records.set(id, [...(records.get(id) ?? []), JSON.stringify(record)]);
  };
  const read = (id: string): RolloutTurn[] =>
    (records.get(id) ?? []).map((text) => JSON.parse(text) as RolloutTurn).filter(keeps);
  return {
    appendTurn: async (id, { timestamp, items, metadata }) => add(id, { timestamp, items, metadata }),
    readRollout: async (id) => read(id),
    list: async () => [...records.keys()].map((id) => ({ id, updatedAt: 0 })),
    ...(hasCompacted
      ? {
          appendCompacted: async (id, { timestamp, summary, truncatedCount }) =>
            add(id, { type: "compacted", timestamp, summary, truncatedCount }),
        }
      : {}),
  };
}

async function fileRecorder(): Promise<RolloutRecorder> {
  const directory = await temporaryFolder();
  const recorder = new RolloutRecorder(join(directory, "conversations"), { env: { XDG_RUNTIME_DIR: directory } });
  onTestFinished(() => recorder.close());
  return recorder;
}

const recorders: Record<string, () => TurnRecorder | Promise<TurnRecorder>> = {
  "that returns its compaction records": () => createMockRecorder(),
  "that stores three fields of a compaction": () => plainRecorder(() => true),
  "that returns turns only": () => plainRecorder((record) => "items" in record),
  "without appendCompacted": () => plainRecorder(() => true, false),
  "that is a RolloutRecorder": fileRecorder,
};

interface Life {
  readonly replies: readonly Reply[];
  readonly compaction?: object;
  readonly live: (conversation: Conversation) => Promise<unknown>;
}

const lives: Record<string, Life> = {
  "a compaction at the end of a turn": {
    replies: [says("one"), saysAt("two", 9000), says("The summary"), says("three")],
    live: async (conversation) => {
      for (const text of ["first", "second", "third"]) await conversation.processMessage(text);
    },
  },
  "a compaction between tool rounds": {
    replies: [says("one"), callsAt(9000, "call_1", "/etc/hostname"), says("The summary"), says("done")],
    live: async (conversation) => {
      for (const text of ["first", "read it"]) await conversation.processMessage(text);
    },
  },
  "two compactions on request, each as the last thing": {
    replies: [says("one"), says("The summary"), says("two"), says("The second summary")],
    live: async (conversation) => {
      for (const text of ["first", "second"]) {
        await conversation.processMessage(text);
        await conversation.compact();
      }
    },
  },
  "the strategy recent-turns": {
    compaction: { strategy: "recent-turns", keepTurns: 1 },
    replies: [says("one"), saysAt("two", 9000), says("The summary")],
    live: async (conversation) => {
      for (const text of ["first", "second"]) await conversation.processMessage(text);
    },
  },
  "a pin before a compaction": {
    replies: [says("one"), says("The summary"), says("two")],
    live: async (conversation) => {
      await conversation.processMessage("first");
      await conversation.pin("Always answer in French.");
      await conversation.compact();
      await conversation.processMessage("second");
    },
  },
  "a failed turn after a compaction": {
    replies: [says("one"), says("The summary"), fails("auth", false)],
    live: async (conversation) => {
      await conversation.processMessage("first");
      await conversation.compact();
      await expect(conversation.processMessage("second")).rejects.toThrow("the model failed: auth");
    },
  },
  "a replaced history": {
    replies: [says("one"), says("two")],
    live: async (conversation) => {
      await conversation.processMessage("first");
      await conversation.replaceHistory([user("what matters")]);
      await conversation.processMessage("second");
    },
  },
  "a cleared history": {
    replies: [says("one")],
    live: async (conversation) => {
      await conversation.processMessage("first");
      await conversation.history.clear();
    },
  },
};

describe.each(Object.entries(recorders))("a recorder %s", (_, makeRecorder) => {
  test.each(Object.entries(lives))(
    "resumes the live history after %s",
    async (_name, { replies, compaction, live }) => {
      const recorder = await makeRecorder();
      const config = compactingConfig(compaction);
      const { manager } = await openManager({ providers: [scripted(replies)], recorder, config });
      const { conversation, conversationId } = await manager.newConversation({ provider: "scripted", model: "m" });
      await live(conversation);
      const history = conversation.getHistory();
      expect(await conversation.flush()).toEqual({ status: "saved" });
      await manager.shutdown();

      const provider = scripted([says("again")]);
      const next = await openManager({ providers: [provider], recorder, config });
      const resumed = await next.manager.resumeConversation(conversationId);
      expect(resumed.getHistory()).toEqual(history);
      await resumed.processMessage("and now?");
      expect(texts(provider.requests[0]?.input ?? [])).toEqual([...texts(history), "and now?"]);
    },
  );
});

test.each(Object.entries(recorders))(
  "a recorder %s resumes the live history again after a compaction in a resumed conversation",
  async (_, makeRecorder) => {
    const recorder = await makeRecorder();
    const config = compactingConfig();
    const provider = scripted([
      says("one"),
      says("The summary"),
      says("two"),
      says("The second summary"),
      says("three"),
    ]);
    const open = async () => (await openManager({ providers: [provider], recorder, config })).manager;
    const first = await open();
    const { conversation, conversationId } = await first.newConversation({ provider: "scripted", model: "m" });
    await conversation.processMessage("first");
    await conversation.compact();
    await first.shutdown();

    const second = await open();
    const resumed = await second.resumeConversation(conversationId);
    await resumed.processMessage("second");
    await resumed.compact();
    await resumed.processMessage("third");
    const history = resumed.getHistory();
    await second.shutdown();

    const last = await open();
    expect((await last.resumeConversation(conversationId)).getHistory()).toEqual(history);
    await last.shutdown();
  },
);

const turn = (text: string): RolloutTurn => ({
  timestamp: Date.parse("2026-11-18T10:00:00Z"),
  items: [user(text)],
  metadata: { provider: "scripted", model: "m" },
});

function summaryIn(items: readonly ResponseItem[]): ResponseItem | undefined {
  return items.find((item) => item.type === "message" && item.summary === true);
}

const labelled = {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: "Summary of earlier conversation:\n\nThey chose SQLite." }],
  summary: true,
};

test.each([
  "that returns its compaction records",
  "that stores three fields of a compaction",
  "that is a RolloutRecorder",
])("a plain summary appended to a recorder %s is a labelled summary after a resume", async (name) => {
  const recorder = (await recorders[name]?.()) ?? createMockRecorder();
  await recorder.appendTurn("conv_1", turn("first"));
  await recorder.appendCompacted?.("conv_1", {
    timestamp: Date.parse("2026-11-18T10:01:00Z"),
    summary: "They chose SQLite.",
    truncatedCount: 0,
  });
  const { manager } = await openManager({ providers: [scripted([])], recorder });
  const resumed = await manager.resumeConversation("conv_1");
  expect(resumed.getHistory()).toEqual([user("first"), labelled]);
  expect(summaryIn(resumed.getHistory())).toEqual(labelled);
});

test("a recorder that is a RolloutRecorder writes one compacted line for one compaction", async () => {
  const directory = await temporaryFolder();
  const recorder = new RolloutRecorder(directory, { env: { XDG_RUNTIME_DIR: directory } });
  onTestFinished(() => recorder.close());
  const provider = scripted([says("one"), says("The summary")]);
  const { manager } = await openManager({ providers: [provider], recorder, config: compactingConfig() });
  const { conversation, conversationId } = await manager.newConversation({ provider: "scripted", model: "m" });
  await conversation.processMessage("first");
  await conversation.compact();
  const items = conversation.getHistory();
  await manager.shutdown();
  const lines = await rolloutLines(join(directory, `${conversationId}.jsonl`));
  const compacted = lines.filter(({ type }) => type === "compacted");
  expect(compacted).toMatchObject([{ payload: { replacement_history: items, cody: { strategy: "codex" } } }]);
});

test("a record that is neither a turn nor a compaction is reported with its number", async () => {
  const recorder: TurnRecorder = {
    appendTurn: async () => undefined,
    readRollout: async () => [turn("first"), { timestamp: 0, note: "?" } as unknown as RolloutTurn],
    list: async () => [{ id: "conv_1", updatedAt: 0 }],
  };
  const { manager } = await openManager({ recorder });
  await expect(manager.resumeConversation("conv_1")).rejects.toMatchObject({
    code: "CORRUPTED_ROLLOUT",
    message: "Conversation conv_1: line 2: neither a turn (items) nor a compaction (summary)",
  });
});
