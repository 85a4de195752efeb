import type { OddJson } from "./fuzz-odd-values.js";
import type { Random } from "./random.js";

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** A field in a line: the object or list that contains it, and its key. */
interface Place {
  readonly within: Json[] | JsonObject;
  readonly key: string;
}

const hole = "(hole)";

/** The line as text, with odd JSON in place of some of its fields. */
export function withOdd(line: JsonObject, random: Random, json: OddJson, count = 1): string {
  for (let left = count; left > 0; left -= 1) {
    const place = random.pick(placesIn(line));
    if (place !== undefined) Object.assign(place.within, { [place.key]: hole });
  }
  return filled(line, random, json);
}

/** The same as `withOdd`, for fields with these names. */
export function withOddNamed(line: JsonObject, random: Random, json: OddJson, names: readonly string[]): string {
  for (const { within, key } of placesIn(line)) {
    if (names.includes(key)) Object.assign(within, { [key]: hole });
  }
  return filled(line, random, json);
}

export function without(line: JsonObject, random: Random): string {
  const place = random.pick(placesIn(line));
  if (place !== undefined) Reflect.deleteProperty(place.within, place.key);
  return JSON.stringify(line);
}

/** Adds a field to every object in the line. */
export function withMore(line: JsonObject, key: string, value: Json): string {
  for (const within of [line, ...placesIn(line).map(valueOf)]) {
    if (isObject(within)) within[key] = value;
  }
  return JSON.stringify(line);
}

export function payloadOf(line: JsonObject): JsonObject {
  const { payload } = line;
  return isObject(payload) ? payload : {};
}

function filled(line: JsonObject, random: Random, json: OddJson): string {
  return JSON.stringify(line).replaceAll(JSON.stringify(hole), () => json(random));
}

function placesIn(value: Json | undefined): Place[] {
  if (value === undefined || value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) => [{ within: value, key }, ...placesIn(inner)]);
}

function valueOf({ within, key }: Place): Json | undefined {
  return Reflect.get(within, key) as Json | undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
