import { isUtf8 } from "node:buffer";
import { isRecord } from "../../base/is-record.js";
import { formOf } from "../formats/lines/detect.js";
import { visible } from "../../base/text/visible.js";

/** Longer lines are damage: nothing cody or Codex writes comes near it, and a line must fit in memory. */
export const maxLineBytes = 256 * 1024 * 1024;

/** Deeper lines are damage as well: nobody could write them again. Codex reads nothing that is deeper than 128. */
export const maxLineDepth = 500;
/** Lines that replace the history hold items of other lines, which stand a little deeper there. */
const replacingTypes = new Set(["compacted", "cody"]);
const replacingDepth = maxLineDepth + 10;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export interface LineObject {
  readonly type: string;
  readonly [key: string]: unknown;
}

export type LineBytes =
  | { readonly status: "blank" }
  | { readonly status: "object"; readonly value: LineObject }
  /** `detail` has the parser's message without its excerpt of the file, which may hold a secret. */
  | { readonly status: "bad"; readonly detail: string };

/** What the bytes between two newlines are. Loads no schema library: the writer and short commands use it. */
export function readLineBytes(bytes: Buffer): LineBytes {
  if (bytes.length > maxLineBytes) return bad("the line is too long");
  if (!isUtf8(bytes)) return bad("not valid UTF-8");
  const text = bytes.toString("utf8");
  if (/^[ \t\r]*$/.test(text)) return { status: "blank" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return bad(`not valid JSON${parserMessage(error)}`);
  }
  const object = lineObject(value);
  if (object === undefined) return bad("not an object with a type");
  // A level takes two bytes at least.
  const levels = replacingTypes.has(object.type) ? replacingDepth : maxLineDepth;
  return bytes.length > 2 * levels && isDeeperThan(object, levels)
    ? bad("nested too deep")
    : { status: "object", value: object };
}

/** A file may begin with a byte order mark, which is no part of its first line. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes;
}

/** Forms that name no type of their own are named by their form. */
export function lineObject(value: unknown): LineObject | undefined {
  if (!isRecord(value)) return undefined;
  if (typeof value["type"] === "string") return value as LineObject;
  const form = formOf(value);
  return form === undefined ? undefined : { ...value, type: `(${form})` };
}

/** Whether objects and lists stand in one another further than that. Level by level: recursion would not come back. */
export function isDeeperThan(value: object, levels: number): boolean {
  let level = [value];
  for (let depth = 0; depth < levels; depth += 1) {
    const next: object[] = [];
    for (const outer of level) {
      for (const inner of Object.values(outer) as unknown[]) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    if (next.length === 0) return false;
    level = next;
  }
  return true;
}

/** The parts of V8's messages that quote at most one character of the text. */
const safeMessage = /^Unexpected token '.{1,2}?'(?=, )|^[^"]+ JSON at position \d+|^Unexpected end of JSON input/su;

/** V8's message up to its position, which is counted in the line. */
function parserMessage(error: unknown): string {
  const [message] = safeMessage.exec((error as Error).message) ?? [];
  return message === undefined ? "" : `: ${visible(message)}`;
}

function bad(detail: string): LineBytes {
  return { status: "bad", detail };
}
