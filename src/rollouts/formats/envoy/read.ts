import { fieldsOf, textOf } from "../../../base/is-record.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import { lineFacts, isoTime } from "../lines/detect-format.js";
import { messageItems } from "./items.js";
import type { LineObject } from "../../file/lines.js";
import { codexRecords } from "../codex/read.js";

import {
  type Losses,
  sourceLines,
  type ReadSource,
  type SourceFacts,
  type SourceFile,
  type SourceRecord,
} from "../import/source.js";

/** The first lines contain all facts. */
const maxFactLines = 10;

/** Reads AI SDK messages in envelopes, one per line. */
export const readMessageSource: ReadSource = async (file, losses) => ({
  facts: await factsOf(file),
  records: messageRecords(file, losses),
});

async function factsOf(file: SourceFile): Promise<SourceFacts> {
  let facts: SourceFacts = {};
  for await (const { number, value } of sourceLines(file)) {
    const found = lineFacts(value);
    const known = { id: textOf(value["sessionId"]), ...found };
    facts = { ...known, ...Object.fromEntries(Object.entries(facts).filter(([, text]) => text !== undefined)) };
    if (number >= maxFactLines) break;
  }
  return facts;
}

async function* messageRecords(file: SourceFile, losses: Losses): AsyncGenerator<SourceRecord> {
  for await (const { value } of sourceLines(file, losses)) yield* recordsOf(value, losses);
}

function recordsOf(value: LineObject, losses: Losses): SourceRecord[] {
  if ("payload" in value) return codexRecords(value, losses);
  const { messageType } = value;
  const message = fieldsOf(value["message"]);
  if (messageType === "session-meta") return [];
  if (messageType !== "conversation") {
    losses.count("unknown_lines");
    return [];
  }
  const { items, whole } = messageItems(message);
  if (!whole) losses.count("unknown_parts");
  if (message["role"] === "system") losses.count("system_messages");
  else if (items.length === 0 && whole) losses.count("unfinished");
  const timestamp = isoTime(value["timestamp"]);
  return items.map((item) => ({ type: "item", timestamp, item: withoutEncrypted(item, losses) }));
}

/** Removes signatures: Envoy does not record which model wrote them, so they cannot be sent back to any. */
function withoutEncrypted(item: ResponseItem, losses: Losses): ResponseItem {
  if (item.type !== "reasoning" || typeof item.encrypted_content !== "string") return item;
  losses.count("signatures");
  const { encrypted_content: _, ...rest } = item;
  return rest;
}
