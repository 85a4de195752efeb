import { createHash } from "node:crypto";

/** Codex begins every summary with the same 399 bytes; their hash stands for them here. */
const summaryPrefixBytes = 399;
const summaryPrefixHash = "e9b088e794a6bb9082ac053fcc760bd818d7e720ee4bcdc72c6e480de7b7cb0e";

export function isCodexSummary(text: string): boolean {
  const bytes = Buffer.from(text.slice(0, summaryPrefixBytes + 1));
  if (bytes.length <= summaryPrefixBytes) return false;
  const hash = createHash("sha256").update(bytes.subarray(0, summaryPrefixBytes)).digest("hex");
  return hash === summaryPrefixHash;
}
