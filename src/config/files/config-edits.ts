import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../base/is-record.js";

/** A setting that is to be another; without a value it is taken out. */
export interface ConfigEdit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The fewest changes that make one configuration another, so that what is written around the rest can stay. */
export function configEdits(from: unknown, to: unknown, path: readonly string[] = []): ConfigEdit[] {
  if (!isRecord(from) || !isRecord(to)) return isDeepStrictEqual(from, to) ? [] : [{ path, value: to }];
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return keys.flatMap((key) => configEdits(from[key], to[key], [...path, key]));
}
