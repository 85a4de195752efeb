import type { CompactionPreview, ItemSize } from "../../messages/compaction.js";
import { tokenText } from "../format/token-text.js";
import { groupsOf, type ItemGroup } from "./item-kinds.js";

const previewNameCells = 14;
const previewCountCells = 6;
const previewTokenCells = 8;

/** The effect of a compaction. The summary does not exist yet, so its length is unknown. */
export function previewText(preview: CompactionPreview): string[] {
  const { strategy, tokensBefore, tokensAfter, kept, dropped, window, limit } = preview;
  return [
    `Strategy: ${strategy}`,
    `Tokens: ${tokenText(tokensBefore)} → ${tokenText(tokensAfter)} plus the summary`,
    `Window: ${tokenText(window)} tokens, compacts above ${tokenText(limit)}`,
    ...listed("Kept", kept),
    ...listed("Dropped", dropped),
    "Nothing was changed.",
  ];
}

function listed(title: string, items: readonly ItemSize[]): string[] {
  return items.length === 0 ? [`${title}: nothing`] : [`${title}:`, ...groupsOf(items).map(previewRow)];
}

function previewRow({ name, count, tokens }: ItemGroup): string {
  const columns = [
    name.padEnd(previewNameCells),
    `${count}`.padStart(previewCountCells),
    tokenText(tokens).padStart(previewTokenCells),
  ];
  return `  ${columns.join("")} tokens`;
}
