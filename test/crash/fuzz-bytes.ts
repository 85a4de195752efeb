import { gzipSync } from "node:zlib";
import type { Random } from "./random.js";

/** Damages the bytes of a file. */
export type ByteDamage = (bytes: Buffer, random: Random) => Buffer;

const mark = "\ufeff";

/** Kinds of damage that apply to any file. */
export const byteDamages: Readonly<Record<string, ByteDamage>> = {
  "a bit turned": (bytes, random) => spliced(bytes, random, 1, ([byte = 0]) => [byte ^ (1 << random.whole(0, 7))]),
  "bytes lost": (bytes, random) => spliced(bytes, random, random.magnitude(1, 300), () => []),
  "bytes of chance": (bytes, random) =>
    spliced(bytes, random, random.magnitude(1, 50), (part) => part.map(() => random.whole(0, 255))),
  "bytes put in": (bytes, random) => spliced(bytes, random, 0, () => [random.whole(0, 255), random.whole(0, 255)]),
  "a newline put in": (bytes, random) => spliced(bytes, random, 0, () => [0x0a]),
  "a newline lost": (bytes) => Buffer.from(bytes.toString("latin1").replace("\n", ""), "latin1"),
  "a hole": (bytes, random) => spliced(bytes, random, random.magnitude(1, 5_000), (part) => part.map(() => 0)),
  "a hole at the end": (bytes, random) => Buffer.concat([bytes, Buffer.alloc(random.magnitude(1, 5_000))]),
  "a hole at the beginning": (bytes, random) => Buffer.concat([Buffer.alloc(random.magnitude(1, 5_000)), bytes]),
  "cut off": (bytes, random) => bytes.subarray(0, random.whole(0, bytes.length)),
  "no newline at the end": (bytes) => bytes.subarray(0, -1),
  "no bytes": () => Buffer.of(),
  "nothing but newlines": (_bytes, random) => Buffer.alloc(random.magnitude(1, 20), 0x0a),
  "nothing but chance": (bytes, random) => Buffer.from([...bytes].map(() => random.whole(0, 255))),
  "a mark at the beginning": (bytes) => Buffer.concat([Buffer.from(mark), bytes]),
  "two marks at the beginning": (bytes) => Buffer.concat([Buffer.from(mark + mark), bytes]),
  "a mark within": (bytes) => Buffer.from(bytes.toString("latin1").replace("\n", "\n\u00ef\u00bb\u00bf"), "latin1"),
  "lines of Windows": (bytes) => Buffer.from(bytes.toString("latin1").replaceAll("\n", "\r\n"), "latin1"),
  "lines of old Macs": (bytes) => Buffer.from(bytes.toString("latin1").replaceAll("\n", "\r"), "latin1"),
  "other ends of lines": (bytes) => Buffer.from(bytes.toString("utf8").replaceAll(" ", "\u2028\u0085")),
  "no UTF-8": (bytes, random) => spliced(bytes, random, 1, () => random.pick(notUtf8) ?? []),
  "UTF-16": (bytes) => Buffer.from(mark + bytes.toString("utf8"), "utf16le"),
  "Latin-1": (bytes) => Buffer.from(bytes.toString("utf8").replaceAll("e", "é"), "latin1"),
  packed: (bytes) => gzipSync(bytes),
};

/** Lone bytes, an overlong slash, a surrogate, a code point beyond Unicode, and a truncated sequence. */
const notUtf8 = [[0xff], [0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]];

function spliced(bytes: Buffer, random: Random, count: number, by: (part: number[]) => readonly number[]): Buffer {
  const at = random.whole(0, Math.max(0, bytes.length - 1));
  const part = bytes.subarray(at, at + count);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(by([...part])), bytes.subarray(at + part.length)]);
}
