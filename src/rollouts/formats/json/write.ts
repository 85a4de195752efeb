import { bareId } from "../../../base/text/conversation-id.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { applyToHistory } from "../../file/history.js";
import { toolCallsOf } from "../../history-messages.js";
import type { WriterInput, ExportFacts } from "../export/export-facts.js";
import { readTurns, type ExportedTurn, type TurnEntry } from "../export/turns.js";

/** Version of this JSON shape. */
const version = 1;

/** Writes a conversation as one JSON value: its facts, every turn in full, and the history the model sees now. */
export async function* writeJson({ survey, batches }: WriterInput): AsyncGenerator<string> {
  const history: ResponseItem[] = [];
  const facts = JSON.stringify(factsOf(survey), null, 2);
  yield `${facts.slice(0, -"\n}".length)},\n  "turns": [`;
  let separator = "";
  for await (const turn of readTurns(applyBatches(batches, history))) {
    yield `${separator}\n    ${indented(turnJson(turn), 4)}`;
    separator = ",";
  }
  yield `\n  ],\n  "history": [`;
  for (const [index, item] of history.entries()) yield `${index === 0 ? "" : ","}\n    ${indented(item, 4)}`;
  yield `${history.length === 0 ? "" : "\n  "}]\n}\n`;
}

async function* applyBatches(
  batches: AsyncIterable<readonly OwnLine[]>,
  history: ResponseItem[],
): AsyncGenerator<readonly OwnLine[]> {
  for await (const batch of batches) {
    for (const line of batch) applyToHistory(history, line);
    yield batch;
  }
}

function factsOf(survey: ExportFacts): object {
  const { provider, model, context, meta } = survey;
  return {
    format: "cody",
    version,
    session_id: bareId(survey.conversationId),
    conversation_id: survey.conversationId,
    title: survey.title,
    name: survey.name ?? null,
    created_at: survey.createdAt,
    last_updated: survey.lastUpdated,
    config_snapshot: {
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
      ...context,
    },
    metadata: meta ?? {},
    usage: survey.usage,
    counts: {
      turns: survey.headings.length,
      items: survey.items,
      messages: survey.messages,
      tool_calls: survey.toolCalls,
      compactions: survey.compactions,
    },
  };
}

function turnJson({ id, startedAt, status, failure, provider, model, usage, entries }: ExportedTurn): object {
  const items = entries.flatMap((entry) => (entry.type === "item" ? [entry.item] : []));
  return {
    turn_id: id,
    timestamp: startedAt,
    status,
    ...(failure === undefined ? {} : { failure }),
    provider: provider ?? null,
    model: model ?? null,
    token_usage: usage,
    items,
    tool_calls: toolCallsOf(items),
    /** Changes of the history; `after_items` is the number of the turn's items before the change. */
    changes: changesOf(entries),
  };
}

function changesOf(entries: readonly TurnEntry[]): object[] {
  const changes: object[] = [];
  let after_items = 0;
  for (const entry of entries) {
    if (entry.type === "item") after_items += 1;
    else changes.push(changeJson(entry, after_items));
  }
  return changes;
}

function changeJson(entry: Exclude<TurnEntry, { type: "item" }>, after_items: number): object {
  const { timestamp } = entry;
  switch (entry.type) {
    case "compacted": {
      const { message, replacement_history: replaced, cody } = entry.compacted;
      const items = Array.isArray(replaced) ? { items: replaced.length, replacement_history: replaced } : {};
      return { type: "compacted", timestamp, after_items, summary: message, ...cody, ...items };
    }
    case "replaced":
      return {
        type: "replaced",
        timestamp,
        after_items,
        items: entry.items.length,
        unseen: entry.unseen,
        replacement_history: entry.items,
      };
    case "rolled_back":
      break;
  }
  return { type: "rolled_back", timestamp, after_items, turns: entry.turns };
}

/** Indents JSON. Strings in JSON contain no raw line breaks, so only the structure is affected. */
function indented(value: unknown, spaces: number): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${" ".repeat(spaces)}`);
}
