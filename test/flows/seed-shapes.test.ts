import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildCompactedHistory, collectUserMessages, type PlainItem } from "../../src/index.js";
import type { Provider } from "../../src/providers/provider.js";
import { messageText, type ResponseItem } from "../../src/messages/response-item.js";
import type { RolloutTurn } from "../../src/rollouts/turns.js";
import { asksForSummary, compactingConfig, openCompacting, saysAt } from "../support/compacting.js";
import { openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, says, scripted, user } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import type { TurnRecorder } from "../../src/actors/rollout-writer/recorder.js";

// The seed documents write content parts as `text` and ghost snapshots with `data`.

const ghost = { type: "ghost_snapshot", data: "important state", label: "before the rename" } as const;
const codexGhost = {
  type: "ghost_snapshot",
  ghost_commit: { id: "abc", parent: null, preexisting_untracked_files: ["a.txt"], preexisting_untracked_dirs: [] },
} as const;
const ghosts: ResponseItem[] = [ghost, codexGhost];

function plain(role: "user" | "assistant" | "system", text: string): PlainItem {
  return { type: "message", role, content: [{ type: "text", text }] };
}

function ghostsOf(history: readonly ResponseItem[]): ResponseItem[] {
  return history.filter(({ type }) => type === "ghost_snapshot");
}

function exchange(text: string): ResponseItem[] {
  return [user(text.repeat(5000)), assistant("ok")];
}

const output = { type: "function_call_output", call_id: "call_1", output: [{ type: "text", text: "a.txt" }] } as never;
const call = { type: "function_call", call_id: "call_1", name: "shell", arguments: "{}" } as const;
const codexOutput = {
  type: "function_call_output",
  call_id: "call_1",
  output: [{ type: "input_text", text: "a.txt" }],
};

describe("replaceHistory", () => {
  test("takes text parts and ghost snapshots with data, and stores Codex's part types", async () => {
    const { conversation, manager, home, conversationId } = await openConversation({ provider: scripted([]) });
    await conversation.replaceHistory([plain("user", "Hi"), plain("assistant", "Hello"), call, output, ...ghosts]);
    const history = [user("Hi"), assistant("Hello"), call, codexOutput, ...ghosts];
    expect(conversation.getHistory()).toEqual(history);
    expect(conversation.getHistory({ content: "text" }).slice(0, 2)).toEqual([
      plain("user", "Hi"),
      plain("assistant", "Hello"),
    ]);
    await conversation.flush();
    expect((await rolloutLines(conversation.rolloutPath)).at(-1)?.payload).toEqual({
      type: "history_replaced",
      items: history,
    });
    await manager.shutdown();
    const again = await openManager({ home, providers: [scripted([])] });
    expect((await again.manager.resumeConversation(conversationId)).getHistory()).toEqual(history);
  });

  test("takes what buildCompactedHistory returns, and the system prompt is sent once", async () => {
    const provider = scripted([says("one"), says("two")]);
    const { conversation } = await openConversation({ provider });
    await conversation.processMessage("first");
    const context = conversation.getInitialContext();
    const built = buildCompactedHistory(context, collectUserMessages(conversation.getHistory()), "They said first.");
    await conversation.replaceHistory(built);
    expect(conversation.getHistory()).toEqual(built);
    await conversation.processMessage("second");
    const { instructions, input = [] } = provider.requests[1] ?? {};
    expect(context).toEqual([
      { type: "message", role: "developer", content: [{ type: "input_text", text: instructions }] },
    ]);
    expect(input.map((item) => (item.type === "message" ? messageText(item) : item.type))).toEqual([
      "first",
      "Summary of earlier conversation:\n\nThey said first.",
      "second",
    ]);
  });

  test("takes an initial context in the seed's shape", async () => {
    const { conversation } = await openConversation({ provider: scripted([]) });
    await conversation.replaceHistory(buildCompactedHistory([plain("user", "Rules"), ghost], ["first"], "Short."));
    expect(conversation.getHistory().slice(0, 3)).toEqual([user("Rules"), ghost, user("first")]);
  });

  test("keeps a system message, as a developer message", async () => {
    const provider = scripted([says("one")]);
    const { conversation, manager, home, conversationId } = await openConversation({ provider });
    await conversation.replaceHistory([plain("system", "Answer in French."), user("Hi")]);
    const told = { type: "message", role: "developer", content: [{ type: "input_text", text: "Answer in French." }] };
    expect(conversation.getHistory()).toEqual([told, user("Hi")]);
    await conversation.processMessage("first");
    expect(provider.requests[0]?.input).toEqual([told, user("Hi"), user("first")]);
    const live = conversation.getHistory();
    await manager.shutdown();
    const again = await openManager({ home, providers: [scripted([])] });
    expect((await again.manager.resumeConversation(conversationId)).getHistory()).toEqual(live);
  });

  test("refuses a ghost snapshot without a state, and a part of an unknown type", async () => {
    const { conversation } = await openConversation({ provider: scripted([]) });
    await expect(conversation.replaceHistory([{ type: "ghost_snapshot" }])).rejects.toThrow(
      "item 0: expected ghost_commit or data",
    );
    const strange = { type: "message", role: "user", content: [{ type: "video", text: "?" }] } as never;
    await expect(conversation.replaceHistory([strange])).rejects.toThrow("item 0: content.0.type: must be one of");
  });
});

describe("ghost snapshots survive a compaction unchanged", () => {
  const strategies = ["codex", "recent-turns", "recent-tokens", "user-only"];
  const long: ResponseItem[] = [...exchange("a "), ghost, ...exchange("b "), codexGhost, ...exchange("c ")];

  test.each(
    strategies.flatMap((strategy) => ["manual", "auto", "background"].map((kind) => [strategy, kind] as const)),
  )("%s, %s, and after a resume", async (strategy, kind) => {
    const mode = kind === "background" ? "background" : "blocking";
    const compaction = { strategy, mode, keepTurns: 1, keepRecentTokens: 100 };
    // The model reports how full its window is: first enough to prepare a summary, then enough to need it. A turn does
    // not wait for a summary in the background, so that the next one may be the first to use it.
    const answers = scripted(
      (function* () {
        yield saysAt("one", 7000);
        for (;;) yield saysAt("two", 8500);
      })(),
    );
    const summaries = scripted([says("The summary"), says("The summary"), says("The summary")]);
    const provider: Provider = {
      name: "scripted",
      stream: (request, signal) => (asksForSummary(request) ? summaries : answers).stream(request, signal),
    };
    const config = compactingConfig(compaction);
    const { conversation, manager, home, conversationId, events } = await openConversation({ provider, config });
    await conversation.replaceHistory(long);
    if (kind === "manual") {
      await conversation.compact();
      await events.until("context_compacted");
    }
    while (!events.types().includes("context_compacted")) {
      await conversation.submit("more");
      await events.until("task_complete");
    }
    expect(ghostsOf(conversation.getHistory())).toEqual(ghosts);
    const live = conversation.getHistory();
    await manager.shutdown();
    const again = await openManager({ home, providers: [scripted([])] });
    expect((await again.manager.resumeConversation(conversationId)).getHistory()).toEqual(live);
  });
});

describe("the seed's shapes in files", () => {
  async function openFile(id: string, lines: readonly object[]) {
    const home = await temporaryFolder();
    await mkdir(join(home, "conversations"));
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    await writeFile(join(home, "conversations", `${id}.jsonl`), text);
    const { manager } = await openManager({ home, providers: [scripted([says("Short."), says("two")])] });
    const resumed = await manager.resumeConversation(id);
    const history = resumed.getHistory();
    await resumed.processMessage("more");
    await resumed.compact();
    expect(ghostsOf(resumed.getHistory())).toEqual([ghost]);
    const live = resumed.getHistory();
    await manager.shutdown();
    const again = await openManager({ home, providers: [scripted([])] });
    expect((await again.manager.resumeConversation(id)).getHistory()).toEqual(live);
    return { history, notice: resumed.notice };
  }
  const items = [plain("user", "Hi"), plain("assistant", "Hello"), ghost];
  const timestamp = "2026-11-18T10:00:00.000Z";
  const payload = { id: "conv_1", timestamp, cwd: "/", originator: "cody", cli_version: "0", source: "cli" };
  const meta = { timestamp, type: "session_meta", metadata: { provider: "scripted", model: "m" }, payload };

  test.each([
    ["turns", [{ timestamp: 1_763_460_000, items, metadata: { provider: "scripted", model: "m" } }]],
    ["Codex's lines", [meta, ...items.map((item) => ({ timestamp, type: "response_item", payload: item }))]],
    [
      "a compacted line",
      [meta, { timestamp, type: "compacted", payload: { message: "s", replacement_history: items } }],
    ],
    ["a replaced history", [meta, { timestamp, type: "cody", payload: { type: "history_replaced", items } }]],
  ])("are read from %s, and survive a compaction", async (_, lines) => {
    const { history, notice } = await openFile("conv_1", lines);
    expect(history).toEqual([user("Hi"), assistant("Hello"), ghost]);
    expect(notice).toBeUndefined();
  });

  test.each([
    ["a list of items", items],
    ["an object around it", { history: items }],
  ])("are imported from JSON with %s", async (_, value) => {
    const directory = await temporaryFolder();
    await writeFile(join(directory, "x.json"), JSON.stringify(value));
    const { manager } = await openManager({ providers: [scripted([])] });
    const imported = await manager.importConversation(join(directory, "x.json"));
    expect(imported).toMatchObject({ status: "imported", items: 3, losses: { counts: {} } });
    const resumed = await manager.resumeConversation(imported.conversationId);
    expect(resumed.getHistory()).toEqual([user("Hi"), assistant("Hello"), ghost]);
  });
});

test("the seed's shapes are read from an injected recorder, and survive a compaction", async () => {
  const turns: RolloutTurn[] = [
    {
      timestamp: Date.parse("2026-11-18T10:00:00Z"),
      items: [plain("user", "Hi"), plain("assistant", "Hello"), ghost] as RolloutTurn["items"],
      metadata: { provider: "scripted", model: "m" },
    },
  ];
  const recorder: TurnRecorder = {
    appendTurn: async (_id, turn) => void turns.push(turn),
    readRollout: async () => turns,
    list: async () => [{ id: "conv_1", updatedAt: 0 }],
  };
  const { manager } = await openManager({ recorder, providers: [scripted([says("Short.")])] });
  const resumed = await manager.resumeConversation("conv_1");
  expect(resumed.getHistory()).toEqual([user("Hi"), assistant("Hello"), ghost]);
  await resumed.compact();
  const live = resumed.getHistory();
  expect(ghostsOf(live)).toEqual([ghost]);
  await manager.shutdown();
  const again = await openManager({ recorder, providers: [scripted([])] });
  expect((await again.manager.resumeConversation("conv_1")).getHistory()).toEqual(live);
});

test("items in the seed's shape can be summarized", async () => {
  const { conversation, provider } = await openCompacting([says("Short.")]);
  expect(await conversation.summarize([plain("user", "Hi"), ghost])).toBe("Short.");
  expect(provider.requests[0]?.input[0]).toEqual(user("Hi"));
});
