import { idOfName } from "../layout.js";

/** What a file is, as far as its name tells; others' files are foreign. */
export type StoreName = "rollout" | "lock" | "temporary" | "kept" | "blobs" | "snapshots" | "cache" | "foreign";

/** Behind the name of the rollout a file stands beside, or what stands for that beside Codex's. */
const beside = /(?:.\.jsonl|^\.cody-[0-9a-f]{16})\.(.+)$/;
const headCache = ".heads.json";
const indexes = new Set([".names.jsonl", ".pins.jsonl"]);

const endings: readonly (readonly [pattern: RegExp, name: StoreName])[] = [
  [/^lock(?:\.after\.[0-9a-f]{32})?$/, "lock"],
  [/^(?:lock\.[0-9a-f]{16}|repair|scrub)\.tmp$/, "temporary"],
  [/^(?:torn|backup)-/, "kept"],
  [/^blobs$/, "blobs"],
  [/^snapshots$/, "snapshots"],
];

/** What cody puts where rollouts lie. */
export function storeName(name: string): StoreName {
  if (idOfName(name) !== undefined) return "rollout";
  if (name === headCache || indexes.has(name)) return "cache";
  if (/^\.(?:heads\.json|names\.jsonl|pins\.jsonl)\..+\.tmp$/.test(name)) return "temporary";
  const ending = beside.exec(name)?.[1] ?? "";
  return endings.find(([pattern]) => pattern.test(ending))?.[1] ?? "foreign";
}
