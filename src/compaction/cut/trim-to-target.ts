import { type ResponseItem, isFlagged, isOutput, isPinned, isSummary } from "../../messages/response-item.js";
import { MIN_CUT_TOKENS } from "../constants.js";
import { cutItem, isCuttable, capFor } from "./cut-item.js";
import { contextIndexes, isFromModel, isRequest } from "../item-kinds.js";
import { groupsOf, type ItemGroup, unfinishedGroups } from "./safe-cut.js";
import type { CountItem } from "../strategy.js";

/**
 * Drops the oldest groups until the items are within the target. Context, pins, summaries, snapshots, unanswered
 * requests, calls under way, the last request and the newest step after it are never dropped. If these alone exceed
 * the target, their longest texts are cut in the middle.
 */
export function trimToTarget(items: readonly ResponseItem[], targetTokens: number, count: CountItem): ResponseItem[] {
  const tokens = items.map(count);
  let total = tokens.reduce((sum, number) => sum + number, 0);
  if (total <= targetTokens) return [...items];
  const groups = groupsOf(items);
  const keptIndices = keptIndexes(items, tokens, groups, targetTokens);
  const dropped = new Set<number>();
  for (const { places } of groups) {
    if (total <= targetTokens) break;
    if (places.some((place) => keptIndices.has(place))) continue;
    for (const place of places) {
      dropped.add(place);
      total -= tokens[place] ?? 0;
    }
  }
  const kept = items.filter((_, place) => !dropped.has(place));
  return total <= targetTokens ? kept : withShorterTexts(kept, targetTokens, count);
}

function keptIndexes(
  items: readonly ResponseItem[],
  tokens: readonly number[],
  groups: readonly ItemGroup[],
  targetTokens: number,
): Set<number> {
  const keptPlaces = contextIndexes(items);
  for (const [place, item] of items.entries()) {
    if (isFlagged(item) || item.type === "ghost_snapshot") keptPlaces.add(place);
  }
  for (const place of openRequests(items)) keptPlaces.add(place);
  // An output that arrives later must still find its call.
  for (const place of unfinishedGroups(items, groups).flatMap(({ places }) => places)) keptPlaces.add(place);
  const lastRequest = items.findLastIndex(isRequest);
  const newest = groups.findLast(({ isStep }) => isStep)?.places ?? [];
  const uncuttable = newest.filter((place) => items[place] !== undefined && !isCuttable(items[place]));
  const rigidTokens = uncuttable.reduce((sum, place) => sum + (tokens[place] ?? 0), 0);
  // Without its latest results the model would repeat the step. Calls cannot be cut, so a step with too many is
  // dropped.
  if ((newest[0] ?? -1) > lastRequest && rigidTokens <= targetTokens / 2) {
    for (const place of newest) keptPlaces.add(place);
  }
  return keptPlaces;
}

/** Returns the last request and all requests before it that the model has not started to answer. */
function openRequests(items: readonly ResponseItem[]): Set<number> {
  const last = items.findLastIndex(isRequest);
  const done = items.findLastIndex((item) => isFromModel(item) || isOutput(item) || isSummary(item));
  return new Set(items.flatMap((item, place) => (place === last || (place > done && isRequest(item)) ? [place] : [])));
}

/** Cuts pins and open requests last, because they are what the user wants the model to see. */
function withShorterTexts(items: readonly ResponseItem[], targetTokens: number, count: CountItem): ResponseItem[] {
  const open = openRequests(items);
  const isWanted = (item: ResponseItem, place: number) => open.has(place) || isPinned(item);
  const others = lowered(items, targetTokens, count, (item, place) => !isWanted(item, place));
  return lowered(others, targetTokens, count, isWanted);
}

function lowered(
  items: readonly ResponseItem[],
  targetTokens: number,
  count: CountItem,
  isSelected: (item: ResponseItem, place: number) => boolean,
): ResponseItem[] {
  const tokens = items.map(count);
  const selected = new Set(
    items.flatMap((item, place) =>
      isCuttable(item) && isSelected(item, place) && (tokens[place] ?? 0) > MIN_CUT_TOKENS ? [place] : [],
    ),
  );
  const fixed = tokens.reduce((sum, number, place) => (selected.has(place) ? sum : sum + number), 0);
  const sizes = [...selected].map((place) => tokens[place] ?? 0);
  const level = Math.max(MIN_CUT_TOKENS, Math.floor(capFor(sizes, targetTokens - fixed)));
  return items.map((item, place) =>
    selected.has(place) && (tokens[place] ?? 0) > level && isCuttable(item) ? cutItem(item, level, count) : item,
  );
}
