import { type JsonObject, payloadOf, without, withMore, withOdd, withOddNamed } from "./fuzz-fields.js";
import {
  deep,
  hugeNumber,
  longList,
  longText,
  odd,
  oddText,
  oddTime,
  prototypeNames,
  text,
} from "./fuzz-odd-values.js";
import { secret } from "./fuzz-sources.js";
import type { Random } from "./random.js";

/** Damages a line; the function may modify its argument. */
export type ValueDamage = (line: JsonObject, random: Random) => string;

const timestamp = "2026-11-16T00:00:00.000Z";
const lineTypes = [
  "session_meta",
  "response_item",
  "compacted",
  "turn_context",
  "event_msg",
  "cody",
  "message",
  "session",
];
const ids = ["id", "call_id", "turn_id", "approval_id", "parentId", "toolCallId", "firstKeptEntryId"];
const beginnings = [
  "01a1e1d9-5bb7-7992-88a9-7e0b2d39fb94",
  "01a1e1e8-ccbc-77c1-8f8d-128974531832",
  "01a1e1d9-0000-7000-8000-000000000000",
];

/** Kinds of damage to a line that is JSON. */
export const valueDamages: Readonly<Record<string, ValueDamage>> = {
  "a field of a wrong type": (line, random) => withOdd(line, random, odd),
  "fields of wrong types": (line, random) => withOdd(line, random, odd, 4),
  "a field missing": without,
  "a field more": (line) => withMore(line, secret, secret),
  "a type of tomorrow": (line, random) =>
    JSON.stringify({ ...line, type: random.pick([secret, "of_tomorrow", ""]) ?? "" }),
  "a payload of tomorrow": (line) => JSON.stringify({ ...line, payload: { ...payloadOf(line), type: secret } }),
  "the type of another line": (line, random) => JSON.stringify({ ...line, type: random.pick(lineTypes) ?? "" }),
  "types of wrong types": (line, random) => withOddNamed(line, random, odd, ["type", "role", "messageType"]),
  "names of the prototype": (line, random) => withOdd(line, random, prototypeNames, 2),
  "a huge number": (line, random) => withOdd(line, random, hugeNumber),
  "a deep value": (line, random) => withOdd(line, random, deep),
  "an odd text": (line, random) => withOdd(line, random, oddText),
  "a long text": (line, random) => withOdd(line, random, longText),
  "a long list": (line, random) => withOdd(line, random, longList),
  "an odd time": (line, random) => withOddNamed(line, random, oddTime, ["timestamp", "started_at"]),
  "ids that come again": (line, random) => withOddNamed(line, random, () => text("00000002"), ids),
  "odd ids": (line, random) => withOddNamed(line, random, odd, ids),
  "a key that comes again": (line, random) =>
    `${JSON.stringify(line).slice(0, -1)},${text(random.pick(Object.keys(line)) ?? "")}:${odd(random)}}`,
  "another order of keys": (line) => JSON.stringify(Object.fromEntries(Object.entries(line).toReversed())),
  "every character escaped": (line) => JSON.stringify(line).replaceAll(jsonText, escaped),
  "blanks between everything": (line) => JSON.stringify(line, undefined, "\t").replaceAll("\n", " \r"),
  "a beginning elsewhere": (line, random) => {
    const base = {
      thread_id: random.pick(beginnings),
      end_ordinal_exclusive: 3,
      end_byte_offset: random.magnitude(1, 1e5),
    };
    const payload = { id: "conv_fuzzed", ...payloadOf(line), history_base: base };
    const meta = { timestamp, type: "session_meta", payload };
    return random.next() < 0.5
      ? JSON.stringify(meta)
      : withOddNamed(meta as JsonObject, random, odd, Object.keys(base));
  },
  "a history replaced": (line, random) => {
    const items = [payloadOf(line), payloadOf(line), { type: "message", role: "user", content: [] }];
    return random.next() < 0.5
      ? withOdd({ timestamp, type: "compacted", payload: { message: secret, replacement_history: items } }, random, odd)
      : withOdd({ timestamp, type: "cody", payload: { type: "history_replaced", items } }, random, odd);
  },
  "a summary": (_line, random) =>
    withOddNamed({ timestamp, type: "compacted", payload: { message: "" } }, random, oddText, ["message"]),
  "turns taken back": (_line, random) =>
    `{"timestamp":"${timestamp}","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":${hugeNumber(random)}}}`,
  "an approval": (line, random) => {
    const request = { call_id: "call_1", approval_id: "1", turn_id: "t", command: ["ls"], cwd: "/", reason: null };
    const type = random.pick(["approval_requested", "approval_decided", "approval_answered"]) ?? "";
    return withOdd({ ...line, type: "cody", payload: { type, decision: "approved", ...request } }, random, odd);
  },
  "an entry of a tree": (_line, random) => {
    const [id, parentId] = [random.pick(["a", "b", "c"]) ?? "", random.pick(["a", "b", "c"]) ?? ""];
    const message = { role: "user", content: secret };
    return random.next() < 0.5
      ? withOdd({ type: "message", id, parentId, timestamp, message }, random, odd)
      : JSON.stringify({ type: "compaction", id, parentId, timestamp, summary: secret, firstKeptEntryId: parentId });
  },
  "a turn in a line": (line, random) => {
    const items = [payloadOf(line), { type: "message", role: "user", content: [{ type: "text", text: secret }] }];
    return withOdd({ timestamp: 1699564800, items, metadata: { model: "m", tokens: 5 } }, random, odd);
  },
  "a message in an envelope": (line, random) => {
    const call = { type: "tool-call", toolCallId: "1", toolName: "Read", args: payloadOf(line) };
    const message = {
      role: random.pick(["user", "assistant", "tool"]) ?? "",
      content: [call, { type: "text", text: secret }],
    };
    return withOdd({ timestamp, messageType: "conversation", message }, random, odd);
  },
};

const jsonText = /"(?:[^"\\]|\\.)*"/g;

function escaped(json: string): string {
  const value = String(JSON.parse(json));
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at).toString(16).padStart(4, "0"));
  return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
}
