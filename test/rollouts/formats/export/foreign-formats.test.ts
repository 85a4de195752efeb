import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { messageText, type ResponseItem } from "../../../../src/messages/response-item.js";
import type { OwnLine } from "../../../../src/messages/rollout-line.js";
import { applyToHistory } from "../../../../src/rollouts/file/history.js";
import { readRollout } from "../../../../src/rollouts/file/read.js";
import { assistant, call, developer, ghost, output, thought, user } from "../../../compaction/items.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import {
  anyConversation,
  conversationId,
  exported,
  exportedText,
  historyOf,
  itemLine,
  metaLine,
  turnOf,
} from "./export-helpers.js";

/** The history our own reader returns for an exported text. */
async function readBack(text: string): Promise<ResponseItem[]> {
  const path = join(await temporaryFolder(), "a.jsonl");
  await writeFile(path, text);
  const history: ResponseItem[] = [];
  const reading = readRollout(path, conversationId);
  for await (const { line } of reading) applyToHistory(history, line);
  expect(reading.end).toMatchObject({ skipped: 0, torn: 0 });
  return history;
}

/** An item reduced to what the formats can store. */
function plain(item: ResponseItem): ResponseItem {
  if (item.type === "message") {
    return item.role === "user" ? user(messageText(item)) : assistant(messageText(item));
  }
  if (item.type !== "reasoning") return item;
  const text = [...item.summary, ...(item.content ?? [])].map((part) => part.text).join("\n");
  return { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text }] };
}

test("an Envoy export is read back as the same model input", async () => {
  await fc.assert(
    fc.asyncProperty(anyConversation, async (lines) => {
      const history = await readBack(await exportedText(lines, "envoy"));
      expect(history).toEqual(historyOf(lines).map(plain));
    }),
    { numRuns: 150 },
  );
});

/** The history with each summary before the kept items, as the format stores it. */
function withSummariesFirst(lines: readonly OwnLine[]): ResponseItem[] {
  const history: ResponseItem[] = [];
  let shown: ResponseItem[] = [];
  let base = 0;
  for (const line of lines) {
    const length = history.length;
    applyToHistory(history, line);
    if (line.type === "compacted" || line.type === "cody") {
      shown = line.type === "compacted" ? summaryFirst(line, history) : [...history];
      base = history.length;
    } else if (history.length > length) shown.push(...history.slice(length));
    else if (history.length < length) {
      if (history.length < base) base = history.length;
      else {
        shown.length = history.length;
        continue;
      }
      shown = [...history];
    }
  }
  return shown.map(plain);
}

function summaryFirst(line: Extract<OwnLine, { type: "compacted" }>, history: readonly ResponseItem[]): ResponseItem[] {
  const at = history.findLastIndex((item) => item.type === "message" && item.summary === true);
  const found = history[at];
  if (found?.type !== "message") return [...history];
  const files = line.payload.cody === undefined ? "" : "\n\n## Files Modified\n- a.txt";
  return [user(`[Session Summary]\n${messageText(found)}${files}`), ...history.toSpliced(at, 1)];
}

test("a Diligent export is read back as the same model input, with each summary before the kept items", async () => {
  await fc.assert(
    fc.asyncProperty(anyConversation, async (lines) => {
      const text = await exportedText(lines, "diligent");
      expect(await readBack(text)).toEqual(withSummariesFirst(lines));
    }),
    { numRuns: 300 },
  );
});

test("Diligent entries have ids of eight digits and a parent, and the first line has the version", async () => {
  await fc.assert(
    fc.asyncProperty(anyConversation, async (lines) => {
      const [header, ...entries] = (await exportedText(lines, "diligent"))
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(header).toMatchObject({ type: "session", version: 2, cwd: "/projects/site" });
      const ids = new Set<unknown>([null]);
      for (const { type, id, parentId, firstKeptEntryId } of entries) {
        expect(["message", "model_change", "session_info", "compaction"]).toContain(type);
        expect(id).toMatch(/^[0-9a-f]{8}$/);
        expect(ids).toContain(parentId);
        expect(ids).not.toContain(id);
        ids.add(id);
        expect([...ids, undefined]).toContain(firstKeptEntryId);
      }
    }),
    { numRuns: 100 },
  );
});

const compactedLine = (items: ResponseItem[]): OwnLine => ({
  timestamp: "2026-11-16T10:20:31.000Z",
  type: "compacted",
  payload: {
    message: "They counted.",
    replacement_history: structuredClone(items),
    cody: {
      trigger: "manual",
      strategy: "recent-tokens",
      source: "model",
      tokens_before: 100,
      tokens_after: 20,
      items_before: 4,
      items_after: 3,
      truncated_count: 0,
      read_files: ["a.txt"],
      modified_files: ["b.txt"],
    },
  },
});

test("a Diligent compaction that keeps the end refers to its first kept entry, and lists its files once", async () => {
  const said = "[Session Summary]\nThey counted.\n## Files Read\n- a.txt\n\n## Files Modified\n- b.txt";
  const items = [{ ...user(said), summary: true as const }, user("two"), assistant("second")];
  const lines = [metaLine(), ...[user("one"), assistant("first"), user("two"), assistant("second")].map(itemLine)];
  const text = await exportedText([...lines, compactedLine(items)], "diligent");
  const entries = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const kept = entries.find(({ message }) => (message as { content?: unknown } | undefined)?.content === "two");
  expect(entries.at(-1)).toEqual({
    type: "compaction",
    id: "00000006",
    parentId: "00000005",
    timestamp: "2026-11-16T10:20:31.000Z",
    summary: "They counted.",
    firstKeptEntryId: kept?.["id"],
    tokensBefore: 100,
    tokensAfter: 20,
    details: { readFiles: ["a.txt"], modifiedFiles: ["b.txt"] },
  });
  expect(entries).toHaveLength(7);
});

const summary = (text: string) => ({ ...user(`[Session Summary]\n${text}`), summary: true as const });
const turn = (number: string) => [user(number), assistant(`answer ${number}`)];

test("a Diligent compaction refers to a turn that an earlier one kept instead of repeating it", async () => {
  const [two, three] = [turn("two"), turn("three")];
  const lines = [
    metaLine(),
    ...[...turn("one"), ...two].map(itemLine),
    compactedLine([summary("first"), ...two]),
    ...three.map(itemLine),
    compactedLine([summary("second"), ...two, ...three]),
    compactedLine([summary("third"), ...three]),
    ...turn("four").map(itemLine),
  ];
  const text = await exportedText(lines, "diligent");
  const entries = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const contents = entries.flatMap(({ id, message }) => {
    const content = (message as { content?: unknown } | undefined)?.content;
    return typeof content === "string" ? [{ id, content }] : [];
  });
  expect(contents.map(({ content }) => content)).toEqual(["one", "two", "three", "four"]);
  const compactions = entries.filter(({ type }) => type === "compaction");
  const kept = compactions.map(({ firstKeptEntryId }) => contents.find(({ id }) => id === firstKeptEntryId)?.content);
  expect(kept).toEqual(["two", "two", "three"]);
  expect((await readBack(text)).map(plain).slice(1)).toEqual([...three, ...turn("four")].map(plain));
});

test("consecutive model items become one Diligent message", async () => {
  const items = [user("go"), thought("hm"), assistant("I look."), call("call_1"), output("call_1"), assistant("done")];
  const text = await exportedText([metaLine(), ...turnOf(...items)], "diligent");
  const roles = text
    .trimEnd()
    .split("\n")
    .flatMap((line) => (JSON.parse(line) as { message?: { role: string } }).message?.role ?? []);
  expect(roles).toEqual(["user", "assistant", "tool_result", "assistant"]);
});

test("Envoy lines are numbered and contain the working directory", async () => {
  const text = await exportedText(
    [metaLine(), ...turnOf(user("go"), call("call_1", "read_file", { path: "a" }), output("call_1", "it"))],
    "envoy",
  );
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  const sessionId = conversationId.slice("conv_".length);
  const timestamp = "2026-11-16T10:20:30.000Z";
  expect(lines).toEqual([
    {
      timestamp,
      messageIndex: 0,
      messageType: "session-meta",
      sessionId,
      message: {
        type: "session-start",
        timestamp,
        projectPath: "/projects/site",
        provider: "offline",
        model: "offline-1",
      },
    },
    { timestamp, messageIndex: 1, messageType: "conversation", sessionId, message: { role: "user", content: "go" } },
    {
      timestamp,
      messageIndex: 2,
      messageType: "conversation",
      sessionId,
      message: {
        role: "tool",
        content: "Tool call: read_file",
        toolName: "read_file",
        toolArgs: { path: "a" },
        toolCallId: "call_1",
        toolResult: "it",
      },
    },
  ]);
});

test("items a format cannot store are counted", async () => {
  const image = {
    ...user("see"),
    content: [{ type: "input_image" as const, image_url: "data:image/png;base64,AA==" }],
  };
  const items = [developer("be kind"), image, call("call_1"), ghost("one"), assistant("ok")];
  const envoy = await exported([metaLine(), ...turnOf(...items)], "envoy");
  for await (const _ of envoy) expect(envoy.format).toBe("envoy");
  expect(Object.fromEntries(envoy.left)).toEqual({ input_image: 1, ghost_snapshot: 1, "call without a result": 1 });
});

test("developer messages cannot be stored in the Diligent format", async () => {
  const tree = await exported([metaLine(), ...turnOf(developer("be kind"), user("go"), assistant("ok"))], "diligent");
  for await (const _ of tree) expect(tree.format).toBe("diligent");
  expect(Object.fromEntries(tree.left)).toEqual({ "developer message": 1 });
});
