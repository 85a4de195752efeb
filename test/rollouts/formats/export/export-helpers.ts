import * as fc from "fast-check";
import type { Arbitrary } from "fast-check";
import type { MessageItem, ResponseItem } from "../../../../src/messages/response-item.js";
import type { OwnLine } from "../../../../src/messages/rollout-line.js";
import type { ExportFormat } from "../../../../src/rollouts/formats/export/export-format.js";
import { type ExportedConversation, exportLines } from "../../../../src/rollouts/formats/export/export-lines.js";
import { sessionMetaLine } from "../../../../src/rollouts/file/encode.js";
import { applyToHistory } from "../../../../src/rollouts/file/history.js";
import { assistant, call, output, summary, thought, user } from "../../../compaction/items.js";

export const conversationId = "conv_01932d4c-89ab-7890-abcd-123456789abc";
export const timestamp = "2026-11-16T10:20:30.000Z";

export function itemLine(payload: ResponseItem): OwnLine {
  return { timestamp, type: "response_item", payload };
}

export function eventLine(payload: Extract<OwnLine, { type: "event_msg" }>["payload"]): OwnLine {
  return { timestamp, type: "event_msg", payload };
}

export function metaLine(): OwnLine {
  const labels = { provider: "offline", model: "offline-1", cwd: "/projects/site", source: "non_interactive" as const };
  return sessionMetaLine({ conversationId, now: new Date(timestamp), ...labels });
}

/** The lines of a conversation with one turn that has these items. */
export function turnOf(...items: ResponseItem[]): OwnLine[] {
  return [
    eventLine({ type: "task_started", turn_id: "turn_1" }),
    ...items.map(itemLine),
    eventLine({ type: "task_complete", turn_id: "turn_1", last_agent_message: null }),
  ];
}

export async function exported(lines: readonly OwnLine[], format: ExportFormat): Promise<ExportedConversation> {
  const source = async function* (): AsyncGenerator<readonly OwnLine[]> {
    // In two chunks, because a consumer must not rely on getting all lines at once.
    const half = Math.floor(lines.length / 2);
    yield lines.slice(0, half);
    yield lines.slice(half);
  };
  return await exportLines({ conversationId, read: source }, format);
}

export async function exportedText(lines: readonly OwnLine[], format: ExportFormat): Promise<string> {
  let text = "";
  for await (const piece of await exported(lines, format)) text += piece;
  return text;
}

export function historyOf(lines: readonly OwnLine[]): ResponseItem[] {
  const history: ResponseItem[] = [];
  for (const line of lines) applyToHistory(history, line);
  return history;
}

/** Generates the lines of one change to a conversation, given the history before it. */
type Change = (history: readonly ResponseItem[], number: number) => OwnLine[];

const word = fc.oneof(fc.constantFrom("one", "two\nthree", "<b>", "東京 😀", "`x`", "\u202e"), fc.string());

const step = fc.record({
  thinks: fc.boolean(),
  says: fc.boolean(),
  outputs: fc.array(word, { maxLength: 3 }),
  isParallel: fc.boolean(),
});

const turn: Arbitrary<Change> = fc
  .record({ asks: word, steps: fc.array(step, { maxLength: 3 }), answer: word, isFramed: fc.boolean() })
  .map(({ asks, steps, answer, isFramed }) => (_, number) => {
    const items = [
      user(asks),
      ...steps.flatMap(({ thinks, says, outputs, isParallel }, at) => {
        const ids = outputs.map((__, index) => `call_${number}_${at}_${index}`);
        const calls = ids.map((id, index) => call(id, index === 0 ? "shell" : "read_file", { path: `${id}.txt` }));
        const results = ids.map((id, index) => output(id, outputs[index]));
        const pairs = calls.flatMap((each, index) => [each, ...results.slice(index, index + 1)]);
        return [
          ...(thinks ? [thought("I think.")] : []),
          ...(says ? [assistant("I say.")] : []),
          ...(isParallel ? [...calls, ...results] : pairs),
        ];
      }),
      assistant(answer),
    ];
    if (!isFramed) return items.map(itemLine);
    return [
      eventLine({ type: "task_started", turn_id: `turn_${number}` }),
      ...items.map(itemLine),
      eventLine({ type: "task_complete", turn_id: `turn_${number}`, last_agent_message: answer }),
    ];
  });

/** A compaction that keeps the end or a part of the history, with the summary first, last or missing. */
const compaction: Arbitrary<Change> = fc
  .record({
    keep: fc.constantFrom<"tail" | "users" | "nothing">("tail", "users", "nothing"),
    place: fc.constantFrom<"first" | "last" | "none">("first", "last", "none"),
    hasNotes: fc.boolean(),
    text: word,
  })
  .map(({ keep, place, hasNotes, text }) => (all) => {
    // A new summary replaces the earlier one.
    const history = all.filter((item) => !(item.type === "message" && item.summary === true));
    const cut = history.findLastIndex(isUser);
    const kept = { tail: history.slice(cut === -1 ? history.length : cut), users: history.filter(isUser), nothing: [] };
    const said = summary(`Summary: ${text}`);
    const items = place === "first" ? [said, ...kept[keep]] : [...kept[keep], ...(place === "last" ? [said] : [])];
    const notes = {
      trigger: "manual" as const,
      strategy: "codex",
      source: "model" as const,
      tokens_before: 100,
      tokens_after: 10,
      items_before: history.length,
      items_after: items.length,
      truncated_count: 0,
      read_files: [],
      modified_files: ["a.txt"],
    };
    // Cloned, because lines from a file share no objects.
    const replacement_history = structuredClone(items);
    return [
      {
        timestamp,
        type: "compacted",
        payload: { message: place === "none" ? "" : text, replacement_history, ...(hasNotes ? { cody: notes } : {}) },
      },
    ];
  });

const rollback: Arbitrary<Change> = fc
  .integer({ min: 1, max: 3 })
  .map((num_turns) => () => [eventLine({ type: "thread_rolled_back", num_turns })]);

const replacement: Arbitrary<Change> = fc
  .array(word, { maxLength: 2 })
  .map((words) => () => [
    { timestamp, type: "cody", payload: { type: "history_replaced", items: words.map((text) => user(text)) } },
  ]);

/** The lines of any conversation with at least one message. */
export const anyConversation: Arbitrary<OwnLine[]> = fc
  .tuple(
    turn,
    fc.array(
      fc.oneof(
        { arbitrary: turn, weight: 5 },
        { arbitrary: compaction, weight: 2 },
        { arbitrary: rollback, weight: 1 },
        { arbitrary: replacement, weight: 1 },
      ),
      { maxLength: 8 },
    ),
  )
  .map(([first, others]) => {
    const lines: OwnLine[] = [metaLine()];
    for (const [index, change] of [first, ...others].entries()) {
      lines.push(...change(historyOf(lines), index + 1));
    }
    return lines;
  });

export function isUser(item: ResponseItem): item is MessageItem {
  return item.type === "message" && item.role === "user";
}
