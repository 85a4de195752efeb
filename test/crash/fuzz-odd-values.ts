import { secret } from "./fuzz-sources.js";
import type { Random } from "./random.js";

/** Unexpected JSON, as text, because some of it cannot be written from a value. */
export type OddJson = (random: Random) => string;

const deepest = 200_000;

/** Most are a few hundred levels deep, a few so deep that recursion overflows the stack. */
export const deep: OddJson = (random) => {
  const depth = random.magnitude(50, random.next() < 0.05 ? deepest : 1_000);
  return random.next() < 0.5
    ? "[".repeat(depth) + "]".repeat(depth)
    : `${'{"a":'.repeat(depth)}${text(secret)}${"}".repeat(depth)}`;
};

export const hugeNumber: OddJson = (random) =>
  random.pick(["1e400", "-1e400", "9007199254740993", "-1", "1e-400", "0.5", "1e21", "-0", "9".repeat(400)]) ?? "0";

/** Keys that every object inherits, and some that the runtime looks up implicitly. */
export const prototypeNames: OddJson = () =>
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"valueOf":1,"toJSON":1,"then":1}';

export const oddText: OddJson = (random) =>
  random.pick([
    '""',
    text(secret),
    String.raw`"\ud800 ${secret}"`,
    String.raw`"${secret} \udfff\ud83d"`,
    String.raw`"\u0000${secret}\u001b]52;c;eA==\u0007\u202e"`,
    String.raw`"\n{\"timestamp\":\"${secret}\"}\n"`,
    text("../../etc/passwd"),
    text("__proto__"),
    text("constructor"),
  ]) ?? '""';

export const longText: OddJson = (random) =>
  text(`${secret} `.repeat(random.magnitude(100, random.next() < 0.02 ? 100_000 : 500)));

export const longList: OddJson = (random) => `[${`${text(secret)},`.repeat(random.magnitude(10, 300))}null]`;

export const oddTime: OddJson = (random) =>
  random.pick([
    "null",
    "-1",
    "1e400",
    "8.64e15",
    "[]",
    text("yesterday"),
    text("+275760-09-13T00:00:00.000Z"),
    text("-271821-04-20T00:00:00.000Z"),
    '{"toString":1,"valueOf":1}',
    text("2026-02-30T25:61:61Z"),
  ]) ?? "null";

const plain = ["null", "true", "0", "-1", "1.5", "[]", "{}", "[null]", "[[]]", '{"type":null}', '{"type":"text"}'];

/** Any kind of unexpected JSON. */
export const odd: OddJson = (random) => {
  const kinds = [oddText, oddText, hugeNumber, prototypeNames, oddTime, longList, deep, longText];
  const kind = random.next() < 0.5 ? undefined : random.pick(kinds);
  return kind === undefined ? (random.pick(plain) ?? "null") : kind(random);
};

export function text(value: string): string {
  return JSON.stringify(value);
}
