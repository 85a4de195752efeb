import { isUtf8 } from "node:buffer";
import { isRecord } from "../../base/is-record.js";
import { detectLineFormat } from "../formats/lines/detect.js";
import { visible } from "../../base/text/visible.js";

/** Longer lines count as damage: neither cody nor Codex writes them, and a line must fit in memory. */
export const maxLineBytes = 256 * 1024 * 1024;

/** Lines nested deeper count as damage, because they could not be written again. Codex reads at most 128 levels. */
export const maxLineDepth = 500;
/** Lines of these types contain items of other lines, which are nested a little deeper there. */
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
  /** `detail` is the parser's message without its excerpt of the file, which may contain a secret. */
  | { readonly status: "bad"; readonly detail: string };

/** Parses the bytes between two newlines. Loads no schema library, because the writer and short commands use it. */
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
  // Each level takes at least two bytes, so shorter lines need no check.
  const levels = replacingTypes.has(object.type) ? replacingDepth : maxLineDepth;
  return bytes.length > 2 * levels && isDeeperThan(object, levels)
    ? bad("nested too deeply")
    : { status: "object", value: object };
}

/** Removes the byte order mark with which a file may begin. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes;
}

/** Derives a `type` for forms whose lines have none. */
export function lineObject(value: unknown): LineObject | undefined {
  if (!isRecord(value)) return undefined;
  if (typeof value["type"] === "string") return value as LineObject;
  const form = detectLineFormat(value);
  return form === undefined ? undefined : { ...value, type: `(${form})` };
}

/**
 * Whether a value is nested deeper than `levels`. Iterates level by level, because recursion could overflow the
 * stack.
 */
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

/** Matches the parts of V8's messages that quote at most one character of the text. */
const safeMessage = /^Unexpected token '.{1,2}?'(?=, )|^[^"]+ JSON at position \d+|^Unexpected end of JSON input/su;

/** Returns V8's message up to the position, which is relative to the line. */
function parserMessage(error: unknown): string {
  const [message] = safeMessage.exec((error as Error).message) ?? [];
  return message === undefined ? "" : `: ${visible(message)}`;
}

function bad(detail: string): LineBytes {
  return { status: "bad", detail };
}
