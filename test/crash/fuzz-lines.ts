import { odd, text } from "./fuzz-odd-values.js";
import { secret } from "./fuzz-sources.js";
import type { Random } from "./random.js";

/** Damages the lines of a rollout, possibly by mixing in lines of `others`. */
export type LineDamage = (lines: readonly Buffer[], random: Random, others: readonly string[]) => Buffer[];

/** Kinds of damage to the lines of a rollout. */
export const lineDamages: Readonly<Record<string, LineDamage>> = {
  "a line lost": (lines, random) => replaced(lines, random, () => []),
  "the first line lost": (lines) => lines.slice(1),
  "a line doubled": (lines, random) => replaced(lines, random, (line) => [line, line]),
  "lines swapped": (lines, random) => random.sample(lines, lines.length),
  "lines in reverse": (lines) => lines.toReversed(),
  "a line glued to the next": (lines, random) => glued(lines, random, ""),
  "a torn line glued to the next": (lines, random) => glued(replaced(lines, random, cutEnd(random)), random, ""),
  "a hole between two lines": (lines, random) => glued(lines, random, "\0".repeat(random.magnitude(1, 5_000))),
  "a line torn at its end": (lines, random) => replaced(lines, random, cutEnd(random)),
  "a line torn at its beginning": (lines, random) =>
    replaced(lines, random, (line) => [line.subarray(random.whole(0, line.length))]),
  "blank lines": (lines, random) =>
    replaced(lines, random, (line) => [...texts("", " \t", "\r", ""), line, ...texts("")]),
  "blanks around a line": (lines, random) => replaced(lines, random, (line) => [Buffer.from(` \t${String(line)} \r`)]),
  "other white space around a line": (lines, random) =>
    replaced(lines, random, (line) => [Buffer.from(`\u00a0\v${String(line)}\f\u2028`)]),
  "no object": (lines, random) => replaced(lines, random, () => texts(odd(random))),
  "an object without a type": (lines, random) =>
    replaced(lines, random, () => texts("{}", `{${text(secret)}:${odd(random)}}`)),
  "a type and nothing else": (lines, random) =>
    replaced(lines, random, () => texts(`{"type":${random.pick(['"session_meta"', '"compacted"', '"cody"', '""'])}}`)),
  words: (lines, random) => replaced(lines, random, () => texts(`${secret} at line 1`)),
  "almost JSON": (lines, random) =>
    replaced(lines, random, (line) =>
      texts(
        random.pick([
          `${String(line).slice(0, -1)},}`,
          `{'type':'${secret}'}`,
          `{"type":"${secret}","n":NaN}`,
          `{"type":"cody","text":"${secret}\t"}`,
          `${String(line)}${String(line)}`,
          `${String(line)} // ${secret}`,
          `{"type":"${secret}`,
        ]) ?? "",
      ),
    ),
  "a line of another rollout": (lines, random, others) =>
    replaced(lines, random, (line) => [line, ...texts(random.pick(others) ?? "", random.pick(others) ?? "")]),
  "a first line of another rollout": (lines, random, others) =>
    replaced(lines, random, (line) => [...texts(others.find((other) => other.includes("session_meta")) ?? ""), line]),
  "a very long line": (lines, random) =>
    replaced(lines, random, () =>
      texts(text(secret.repeat(random.magnitude(100, random.next() < 0.02 ? 100_000 : 1_000)))),
    ),
};

function replaced(lines: readonly Buffer[], random: Random, by: (line: Buffer) => readonly Buffer[]): Buffer[] {
  const at = random.whole(0, lines.length - 1);
  return lines.flatMap((line, index) => (index === at ? by(line) : [line]));
}

function glued(lines: readonly Buffer[], random: Random, between: string): Buffer[] {
  const at = random.whole(0, lines.length - 1);
  const pair = Buffer.concat([lines[at] ?? Buffer.of(), Buffer.from(between), lines[at + 1] ?? Buffer.of()]);
  return [...lines.slice(0, at), pair, ...lines.slice(at + 2)];
}

function cutEnd(random: Random): (line: Buffer) => Buffer[] {
  return (line) => [line.subarray(0, random.whole(0, line.length))];
}

function texts(...lines: readonly string[]): Buffer[] {
  return lines.map((line) => Buffer.from(line));
}
