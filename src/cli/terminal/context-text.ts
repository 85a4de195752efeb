import { visible } from "../../base/text/visible.js";
import type {
  ContextUsage,
  ItemSize,
  ItemKind,
  CompactionPreview,
  CompactionOutcome,
} from "../../messages/compaction.js";
import type { CommandContext } from "../context.js";
import { fitted, tokenText } from "../format.js";
import type { WithEvents } from "./turn-player.js";

/** The display names of the kinds of items, in the order of the report. */
const names = {
  instructions: ["instructions", "instructions"],
  tools: ["tools", "tools"],
  context: ["context", "context"],
  pinned: ["pinned", "pinned"],
  summary: ["summary", "summary"],
  user: ["user", "user"],
  assistant: ["assistant", "assistant"],
  reasoning: ["reasoning", "reasoning"],
  tool_call: ["tool call", "tool calls"],
  tool_output: ["tool output", "tool outputs"],
  other: ["other", "other"],
} satisfies Record<ItemKind, readonly [one: string, all: string]>;

const unknownColumns = 80;
const maxLargest = 10;
const maxBarCells = 40;
/** A shorter bar is not useful. */
const minBarCells = 5;
const nameCells = 14;
const tokenCells = 6;
const shareCells = 6;
const indent = "  ";

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Column widths of a compaction preview, which has an additional column with the number of items. */
const previewCountCells = 6;
const previewTokenCells = 8;

/** A report of the context window: the tokens per kind of item, and the largest items. */
export function contextText(usage: ContextUsage, columns: number | undefined): string[] {
  const { model, window, isAssumedWindow, limit, tokens, items } = usage;
  const width = columns || unknownColumns;
  const groups = groupsOf(items);
  const most = Math.max(...groups.map((group) => group.tokens));
  const ofWindow = `${tokenText(window)} tokens${isAssumedWindow ? " (assumed)" : ""}`;
  return [
    `${visible(model)}: ${tokenText(tokens)} of ${ofWindow}, ${share(tokens, window).trim()}`,
    `Compacts above ${tokenText(limit)} tokens`,
    "",
    ...groups.map((group) => groupRow(group, { window, most, width })),
    "",
    "Largest items:",
    ...largest(items).map((item) => itemRow(item, width)),
  ];
}

interface Scale {
  readonly window: number;
  /** The tokens of the longest bar. Relative to the window, most bars would be too short to compare. */
  readonly most: number;
  readonly width: number;
}

function groupRow({ name, tokens }: ItemGroup, { window, most, width }: Scale): string {
  const row = `${indent}${name.padEnd(nameCells)}${tokenText(tokens).padStart(tokenCells)}${share(tokens, window)}`;
  const room = Math.min(maxBarCells, width - row.length - indent.length - 1);
  return room < minBarCells || tokens === 0 ? row : `${row}${indent}${bar(tokens / most, room)}`;
}

function share(tokens: number, window: number): string {
  const percent = Math.round((100 * tokens) / window);
  return (percent === 0 && tokens > 0 ? "<1%" : `${percent}%`).padStart(shareCells);
}

function bar(part: number, cells: number): string {
  const filled = Math.max(1, Math.round(part * cells * eighths.length));
  return "█".repeat(Math.floor(filled / eighths.length)) + (eighths[filled % eighths.length] ?? "");
}

function largest(items: readonly ItemSize[]): ItemSize[] {
  return items
    .filter(({ tokens }) => tokens > 0)
    .toSorted((a, b) => b.tokens - a.tokens)
    .slice(0, maxLargest);
}

function itemRow({ kind, tokens, text }: ItemSize, width: number): string {
  const row = `${indent}${tokenText(tokens).padStart(tokenCells)}${indent}${kindName(kind).padEnd(nameCells)}`;
  return `${row}${fitted(visible(text), width - row.length - 1)}`.trimEnd();
}

interface ItemGroup {
  readonly name: string;
  readonly count: number;
  readonly tokens: number;
}

function kindName(kind: ItemKind): string {
  return names[kind][0];
}

/** The count and tokens of the items of each kind; kinds without items are left out. */
function groupsOf(items: readonly ItemSize[]): ItemGroup[] {
  return Object.entries(names).flatMap(([kind, [, name]]) => {
    const own = items.filter((item) => item.kind === kind);
    const tokens = own.reduce((sum, item) => sum + item.tokens, 0);
    return own.length === 0 ? [] : [{ name, count: own.length, tokens }];
  });
}

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
    name.padEnd(nameCells),
    `${count}`.padStart(previewCountCells),
    tokenText(tokens).padStart(previewTokenCells),
  ];
  return `  ${columns.join("")} tokens`;
}

/**
 * Reports why nothing was compacted, unless a warning did. Returns true if the compaction failed; having nothing to do
 * is not a failure.
 */
export async function reportNotCompacted(
  context: CommandContext,
  { result, msgs }: WithEvents<CompactionOutcome>,
): Promise<boolean> {
  if (result.status === "aborted") await context.tell("Interrupted.");
  if (result.status !== "kept") return false;
  const { reason } = result;
  const isWarned = msgs.some((msg) => msg.type === "warning" && msg.message === reason);
  if (!isWarned) await context.tell(reason);
  // A compaction that started and ended with a warning has failed.
  return isWarned && msgs.some(({ type }) => type === "compaction_start");
}
