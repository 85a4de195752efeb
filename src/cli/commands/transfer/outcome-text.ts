import type {
  ImportedConversation,
  ImportOutcome,
  KnownImport,
} from "../../../actors/conversation/saved/import-options.js";
import { counted } from "../../../base/text/counted.js";
import { visible } from "../../../base/text/visible.js";
import type { DamagedLine, LossReport, LossKind } from "../../../rollouts/formats/import/losses.js";

/** The singular and plural text of each kind of loss. */
const words = {
  abandoned_entries: ["entry of an abandoned branch", "entries of abandoned branches"],
  attachments: ["attachment the program added", "attachments the program added"],
  documents: ["document", "documents"],
  duplicates: ["line that comes twice", "lines that come twice"],
  error_marks: ["mark that a tool failed (what it said is kept)", "marks that tools failed (what they said is kept)"],
  errors: ["error message", "error messages"],
  excluded: ["command that was kept from the model", "commands that were kept from the model"],
  extension_data: ["entry of an extension", "entries of extensions"],
  file_snapshots: ["snapshot of files", "snapshots of files"],
  images: ["image", "images"],
  labels: ["label", "labels"],
  local_commands: ["command of the program, or what it printed", "commands of the program, or what they printed"],
  provider: ["provider cody does not have; the configured one answers", "providers cody does not have"],
  server_tools: ["call of a tool the provider ran, or its result", "calls of tools the provider ran, or their results"],
  settings: ["change of settings", "changes of settings"],
  sidechain_entries: ["entry of a sub-agent", "entries of sub-agents"],
  signatures: ["signature of a thought", "signatures of thoughts"],
  stray_outputs: ["tool output without a call", "tool outputs without a call"],
  subagent_files: ["file of a sub-agent", "files of sub-agents"],
  synthetic_messages: ["message the program put in the model's place", "messages the program put in the model's place"],
  system_messages: ["system message", "system messages"],
  system_notes: ["note of the program", "notes of the program"],
  thoughts: ["thought, which Codex shows and no model gets back", "thoughts, which Codex shows and no model gets back"],
  too_long: ["line that would have been too long", "lines that would have been too long"],
  tool_details: ["set of details of a tool result", "sets of details of tool results"],
  unanswered_calls: ["output of a call, which was never written", "outputs of calls, which were never written"],
  unfinished: ["message that was not finished", "messages that were not finished"],
  unknown_lines: ["line of an unknown kind", "lines of unknown kinds"],
  unknown_parts: ["part of a message, of an unknown kind", "parts of messages, of unknown kinds"],
  usage: ["count of tokens", "counts of tokens"],
} satisfies Record<LossKind, readonly [one: string, more: string]>;

/** In the text output, further damaged lines are only counted. */
const maxShown = 20;

/** The result for one file. */
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

/** The number of files per result. */
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

/** One line for each kind of content that could not be converted. */
function lossText(counts: LossReport["counts"]): string[] {
  return (Object.keys(words) as LossKind[]).flatMap((kind) => {
    const count = counts[kind] ?? 0;
    return count === 0 ? [] : [`${count} ${words[kind][count === 1 ? 0 : 1]}`];
  });
}
