import type {
  ImportedConversation,
  ImportOutcome,
  KnownImport,
} from "../../../actors/conversation/saved/import-options.js";
import type { DamagedLine, LossReport } from "../../../rollouts/formats/import/losses.js";
import { counted } from "../../../base/text/counted.js";
import { visible } from "../../../base/text/visible.js";
import { lossText } from "./loss-text.js";

/** More damaged lines than these are only counted for a person. */
const maxShown = 20;

/** What became of one file. */
export function outcomeText(outcome: ImportOutcome): string[] {
  switch (outcome.status) {
    case "imported":
    case "would_import":
      return importedText(outcome);
    case "exists":
      return knownText(outcome);
    case "here":
      return [
        `${visible(outcome.path)} is already here: ${outcome.conversationId}`,
        "  To import it as another conversation: --force",
      ];
    case "failed":
      return [`✗ Not imported: ${visible(outcome.path)}`, `  ${visible(outcome.reason)}`];
    case "skipped":
      return [`- Skipped: ${visible(outcome.path)}`, `  ${visible(outcome.reason)}`];
    default:
      return outcome satisfies never;
  }
}

/** How many of each there were. */
export function totalText(outcomes: readonly ImportOutcome[]): string {
  const count = (...statuses: ImportOutcome["status"][]) =>
    outcomes.filter(({ status }) => statuses.includes(status)).length;
  const verb = outcomes.some(({ status }) => status === "would_import") ? "would be imported" : "imported";
  const known = count("exists");
  const here = count("here");
  const skipped = count("skipped");
  const failed = count("failed");
  return [
    `\nTotal: ${count("imported", "would_import")} of ${outcomes.length} file(s) ${verb}`,
    ...(known === 0 ? [] : [`${known} imported before`]),
    ...(here === 0 ? [] : [`${here} already here`]),
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ].join(", ");
}

function importedText(outcome: ImportedConversation): string[] {
  const { status, conversationId, format, path, name, turns, items, losses } = outcome;
  const head = status === "imported" ? `✓ Imported: ${conversationId}` : `Would be imported: ${conversationId}`;
  return [
    head,
    `  From: ${visible(path)} (${format})`,
    ...(name === undefined ? [] : [`  Name: ${visible(name)}`]),
    `  ${counted(turns, "turn")}, ${counted(items, "item")}`,
    ...lossesText(losses),
  ];
}

function lossesText({ counts, damaged, damagedCount }: LossReport): string[] {
  const lost = lossText(counts);
  const hidden = damagedCount - Math.min(maxShown, damaged.length);
  return [
    ...(lost.length === 0 ? [] : ["  Not carried over:", ...lost.map((line) => `    ${line}`)]),
    ...(damagedCount === 0 ? [] : [`  ${counted(damagedCount, "line")} could not be read:`]),
    ...damaged.slice(0, maxShown).map((line) => `    ${damagedText(line)}`),
    ...(hidden > 0 ? [`    and ${hidden} more`] : []),
  ];
}

function damagedText({ line, detail }: DamagedLine): string {
  return `line ${line}: ${detail}`;
}

function knownText({ path, conversationId, complete, grown }: KnownImport): string[] {
  if (!complete) {
    return [
      `An import of ${visible(path)} was interrupted: ${conversationId}`,
      "  To import it as another conversation: --force",
    ];
  }
  const since = grown ? ["  The file has become longer since"] : [];
  return [
    `Imported before: ${visible(path)} is ${conversationId}`,
    ...since,
    "  To import it once more, as another conversation: --force",
  ];
}
