import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../base/is-record.js";

/** One setting to change. A value of undefined removes the setting. */
export interface ConfigEdit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * Computes the fewest edits that turn one configuration into another, so that text around unchanged settings is
 * preserved.
 */
export function configEdits(from: unknown, to: unknown, path: readonly string[] = []): ConfigEdit[] {
  if (!isRecord(from) || !isRecord(to)) return isDeepStrictEqual(from, to) ? [] : [{ path, value: to }];
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return keys.flatMap((key) => configEdits(from[key], to[key], [...path, key]));
}
