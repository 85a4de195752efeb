import { createHash } from "node:crypto";

/** The first words of a summary, for each strategy. */
export const summaryLabels = {
  codex: "Summary of earlier conversation:\n\n",
  "recent-turns": "Previous conversation summary:\n",
  "recent-tokens": "[Session Summary]\n",
  "user-only": "Previous requests:\n",
} as const;

/** Codex begins every summary with the same 399 bytes; we compare their hash. */
const summaryPrefixBytes = 399;
const summaryPrefixHash = "e9b088e794a6bb9082ac053fcc760bd818d7e720ee4bcdc72c6e480de7b7cb0e";

/** The text of a summary item. Adds a label unless the summary already has one. */
export function labelledSummary(summary: string): string {
  const hasLabel = Object.values(summaryLabels).some((label) => summary.startsWith(label)) || isCodexSummary(summary);
  return hasLabel ? summary : summaryLabels.codex + summary;
}

export function isCodexSummary(text: string): boolean {
  const bytes = Buffer.from(text.slice(0, summaryPrefixBytes + 1));
  if (bytes.length <= summaryPrefixBytes) return false;
  const hash = createHash("sha256").update(bytes.subarray(0, summaryPrefixBytes)).digest("hex");
  return hash === summaryPrefixHash;
}
