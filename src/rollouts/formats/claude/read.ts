import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ImportError } from "../../../base/errors.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { LineObject } from "../../file/line-object.js";
import { ClaudeTranscript } from "./transcript.js";
import { type ClaudeSurvey, isEntry, surveyClaude } from "./survey.js";
import { KeptItemBuffer } from "../import/kept-items.js";
import type { Losses } from "../import/losses.js";
import { sourceLines } from "../import/source-file.js";
import type { ReadSource, SourceFile, SourceRecord } from "../import/source.js";

/** Bookkeeping lines of Claude Code, which contain nothing of the conversation. */
const bookkeeping = new Set([
  "agent-color",
  "agent-name",
  "agent-setting",
  "ai-title",
  "bridge-session",
  "custom-title",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
  "queue-operation",
  "summary",
  "tag",
  "worktree-state",
]);

/** Reads a session of Claude Code: one line per part of a message, each naming its predecessor. */
export const readClaudeSource: ReadSource = async (file, losses) => {
  const survey = await surveyClaude(file, losses);
  losses.count("subagent_files", await subagentFiles(file));
  return { facts: survey.facts, records: conversationRecords(file, survey, losses) };
};

async function* conversationRecords(
  file: SourceFile,
  survey: ClaudeSurvey,
  losses: Losses,
): AsyncGenerator<SourceRecord> {
  const kept = new KeptItemBuffer(survey.keepings);
  const reading = new ClaudeTranscript(losses, survey.lastOf, (position) => kept.take(position));
  const seen = new Set<string>();
  let sidechains = 0;
  let position = -1;
  for await (const { value } of sourceLines(file)) {
    if (!isEntry(value)) {
      if (value["isSidechain"] === true) sidechains += 1;
      countSkipped(value, losses);
      continue;
    }
    position += 1;
    const { uuid } = value;
    const isCopy = typeof uuid === "string" && seen.has(uuid);
    if (typeof uuid === "string") seen.add(uuid);
    if (isCopy || survey.belongs[position] !== true) {
      losses.count(isCopy ? "duplicates" : "abandoned_entries");
      continue;
    }
    const found = reading.recordsOf(value, position);
    kept.note(position, itemsIn(found));
    yield* found;
  }
  yield* reading.end();
  if (position === -1 && sidechains > 0)
    throw new ImportError(file.path, "it only contains the messages of a sub-agent");
  if (survey.name !== undefined) yield { type: "named", name: survey.name };
}

function itemsIn(records: readonly SourceRecord[]): ResponseItem[] {
  return records.flatMap((record) => (record.type === "item" ? [record.item] : []));
}

function countSkipped(value: LineObject, losses: Losses): void {
  if (value["isSidechain"] === true) losses.count("sidechain_entries");
  else if (value.type === "file-history-snapshot") losses.count("file_snapshots");
  else if (!bookkeeping.has(value.type)) losses.count("unknown_lines");
}

/** Counts the files in which newer versions store the work of sub-agents. */
async function subagentFiles({ path }: SourceFile): Promise<number> {
  const folder = join(path.replace(/\.jsonl$/, ""), "subagents");
  const names = path.endsWith(".jsonl") ? await readdir(folder).catch(() => []) : [];
  return names.filter((name) => name.endsWith(".jsonl")).length;
}
