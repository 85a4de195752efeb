import { knowledgeScore, scoredKnowledge } from "../../../../context/rank-knowledge.js";
import type { KnowledgeEntry } from "../../../../messages/tools/knowledge.js";
import { visible } from "../../../../base/text/visible.js";
import { usageError } from "../../../command-error.js";
import { type ContextOf, printResult } from "../../../context.js";
import { currentTime } from "../../../terminal/now.js";
import { readEntries, openProjectStore } from "./project-store.js";

/** Lists the knowledge that models see, best first; with --all also replaced entries. */
export async function listKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  if (context.args.length > 0) throw usageError("Usage: cody knowledge list [--all]");
  const entries = await readEntries(context, await openProjectStore(context));
  const now = new Date(currentTime(context));
  const ranked = scoredKnowledge(entries, now);
  const active = new Set(ranked.map(({ entry }) => entry));
  const others = context.flags.all ? entries.filter((entry) => !active.has(entry)) : [];
  const json = [
    ...ranked.map(({ entry, score }) => ({ ...entry, score, superseded: false })),
    ...others.map((entry) => ({ ...entry, score: knowledgeScore(entry, now), superseded: true })),
  ];
  const lines = [...ranked.map(({ entry }) => lineOf(entry, "")), ...others.map((entry) => lineOf(entry, " replaced"))];
  const text = lines.length === 0 ? "No knowledge saved for this project yet." : lines.join("\n");
  await printResult(context, { text, json });
  return 0;
}

function lineOf(entry: KnowledgeEntry, mark: string): string {
  const { id, type, content, timestamp, confidence, source, tags = [] } = entry;
  const day = new Date(timestamp).toISOString().slice(0, "YYYY-MM-DD".length);
  const author = source === "model" ? ["by model"] : [];
  const marks = [day, String(confidence), ...author, ...tags.map((tag) => `#${visible(tag)}`)].join(" ");
  return `${id}  [${type}]${mark} ${visible(content)}  (${marks})`;
}
