import { byteDamages } from "./fuzz-bytes.js";
import type { JsonObject } from "./fuzz-fields.js";
import { lineDamages } from "./fuzz-lines.js";
import { valueDamages } from "./fuzz-values.js";
import type { Random } from "./random.js";

/** A few lines of a rollout with damage. */
export interface FuzzedRollout {
  readonly content: Buffer;
  /** The kinds of damage applied, in order. */
  readonly damages: readonly string[];
}

/** All kinds of damage. */
export const damageKinds = [valueDamages, lineDamages, byteDamages].flatMap((table) => Object.keys(table));

const maxLines = 24;
const [withFirstLine, onOtherLines, onTop] = [0.8, 0.7, 0.15];

/** The kinds of damage take turns, so that none is left out; everything else is random. */
export function fuzzedRollout(sources: readonly string[][], random: Random, number: number): FuzzedRollout {
  const damages: string[] = [];
  const texts = someLines(random.pick(sources) ?? [], random);
  const others = random.pick(sources) ?? [];
  const kind = damageKinds[number % damageKinds.length] ?? "";
  if (kind in valueDamages) damageValues(texts, kind);
  let lines: Buffer[] = texts.map((line) => Buffer.from(line));
  if (kind in lineDamages || random.next() < onTop) damageLines();
  const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
  return { content: kind in byteDamages || random.next() < onTop ? damagedBytes() : bytes, damages };

  function damageValues(all: string[], first: string): void {
    const hit = random.whole(0, all.length - 1);
    for (const [at, line] of all.entries()) {
      const own =
        at === hit ? first : random.next() < onOtherLines ? random.pick(Object.keys(valueDamages)) : undefined;
      if (own === undefined) continue;
      all[at] = valueDamages[own]?.(JSON.parse(line) as JsonObject, random) ?? line;
      damages.push(own);
    }
  }

  function damageLines(): void {
    const own = kind in lineDamages ? kind : (random.pick(Object.keys(lineDamages)) ?? "");
    lines = lineDamages[own]?.(lines, random, others) ?? lines;
    damages.push(own);
  }

  function damagedBytes(): Buffer {
    const own = kind in byteDamages ? kind : (random.pick(Object.keys(byteDamages)) ?? "");
    damages.push(own);
    return byteDamages[own]?.(bytes, random) ?? bytes;
  }
}

/** Usually starts with the first line of the rollout. */
function someLines(source: readonly string[], random: Random): string[] {
  const from = random.whole(1, Math.max(1, source.length - 1));
  const some = source.slice(from, from + random.whole(1, maxLines - 1));
  const isWhole = random.next() < withFirstLine || some.length === 0;
  return isWhole ? [...source.slice(0, 1), ...some] : some;
}
