import { KnowledgeIndex } from "../../../../actors/knowledge/known-knowledge.js";
import { activeKnowledge } from "../../../../context/rank-knowledge.js";
import { type KnowledgeEntry, NewKnowledge } from "../../../../messages/tools/knowledge.js";
import { check } from "../../../../base/parse.js";
import { visible } from "../../../../base/text/visible.js";
import { parseAge, counted } from "../../../format/age.js";
import { CommandError, exitCodes, usageError } from "../../../command-error.js";
import { type ContextOf, printResult } from "../../../context.js";
import { watchSignals } from "../../../terminal/interruption.js";
import { currentTime } from "../../../terminal/now.js";
import { readAll } from "../../../terminal/read-input.js";
import { readEntries, openProjectStore, saveOrExplain } from "./project-store.js";

/** Saves knowledge entered by a person. */
export async function addToKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const said = check(NewKnowledge, await entryFromFlags(context), "knowledge");
  const store = await openProjectStore(context);
  const entries = await readEntries(context, store);
  const entry = await saveOrExplain(async () => {
    const made = store.entryOf(said, new KnowledgeIndex(entries), { source: "user" });
    await store.append([made]);
    return made;
  });
  const text = `💡 Knowledge saved: [${entry.type}] ${visible(entry.content)}\n  Id: ${entry.id}`;
  await printResult(context, { text, json: entry });
  return 0;
}

async function entryFromFlags(context: ContextOf<"knowledge">): Promise<Record<string, unknown>> {
  const { args, flags } = context;
  const { type = "pattern", confidence, tags, supersedes } = flags;
  return {
    type,
    content: args.length > 0 ? args.join(" ") : await readStdin(context),
    confidence: confidence === undefined ? 0.8 : Number(confidence),
    ...(tags === undefined ? {} : { tags: tags.split(",").map((tag) => tag.trim()) }),
    ...(supersedes === undefined ? {} : { supersedes }),
  };
}

async function readStdin({ terminal }: ContextOf<"knowledge">): Promise<string> {
  using interruption = watchSignals(terminal);
  return await readAll(terminal.stdin, interruption.signal);
}

/** Removes entries from the file, each with the entries it had replaced. */
export async function removeFromKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const { args } = context;
  if (args.length === 0) throw usageError("Usage: cody knowledge remove <id...>");
  const store = await openProjectStore(context);
  const entries = await readEntries(context, store);
  const ids = args.map((text) => idOf(text, entries));
  const gone = await saveOrExplain(() => store.remove(ids));
  const left = ids.filter((id) => !gone.includes(id));
  if (left.length > 0) {
    const hint = `Replace it instead: cody knowledge add "..." --supersedes ${left[0]}`;
    const message = `${left.join(", ")} is in .diligent, which cody only reads`;
    throw new CommandError(message, exitCodes.failed, [hint]);
  }
  await printResult(context, { text: `✓ Removed: ${gone.join(", ")}`, json: { removed: gone } });
  return 0;
}

/**
 * Removes entries that models saved: those with the given ids, or the newest. Entries they replaced become active
 * again.
 */
export async function undoKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const store = await openProjectStore(context);
  const entries = await readEntries(context, store);
  const undone = undoable(context.args, entries);
  const gone = await saveOrExplain(() => store.undo(undone.map(({ id }) => id)));
  const removed = undone.filter(({ id }) => gone.includes(id));
  if (removed.length < undone.length) {
    const left = undone.flatMap(({ id }) => (gone.includes(id) ? [] : [id]));
    throw new CommandError(`${left.join(", ")} is not in .cody/knowledge/knowledge.jsonl`, exitCodes.failed);
  }
  const ids = new Set(gone);
  const text = removed.map(({ id, type, content }) => `✓ Undone: ${id}  [${type}] ${visible(content)}`);
  const restored = activeKnowledge(entries.filter(({ id }) => !ids.has(id))).filter(({ id }) =>
    removed.some(({ supersedes }) => supersedes === id),
  );
  const again = restored.map(({ id, type, content }) => `  Restored: ${id}  [${type}] ${visible(content)}`);
  await printResult(context, {
    text: [...text, ...again].join("\n"),
    json: { undone: removed, restored: restored.map(({ id }) => id) },
  });
  return 0;
}

function undoable(args: readonly string[], entries: readonly KnowledgeEntry[]): KnowledgeEntry[] {
  if (args.length === 0) return [newestOfModels(entries)];
  const ids = new Set(args.map((text) => idOf(text, entries)));
  const chosen = entries.filter(({ id }) => ids.has(id));
  for (const { id, source } of chosen) {
    if (source !== "model") {
      throw new CommandError(`${id} was not saved by a model`, exitCodes.failed, [
        `To remove it: cody knowledge remove ${id}`,
      ]);
    }
    // Otherwise the entry it had replaced would become active beside its newer replacement.
    const newer = entries.find((entry) => entry.supersedes === id && !ids.has(entry.id));
    if (newer !== undefined) {
      throw new CommandError(`${id} was replaced by ${newer.id}`, exitCodes.failed, [
        `To remove both and everything they replaced: cody knowledge remove ${newer.id}`,
      ]);
    }
  }
  return chosen;
}

function newestOfModels(entries: readonly KnowledgeEntry[]): KnowledgeEntry {
  const newest = activeKnowledge(entries)
    .filter(({ source }) => source === "model")
    // With equal times, the last in the file comes first.
    .toReversed()
    .toSorted((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
    .at(0);
  if (newest === undefined) {
    throw new CommandError("No knowledge saved by a model", exitCodes.failed, ["See: cody knowledge list"]);
  }
  return newest;
}

/** Finds an entry by its id or a unique prefix. */
function idOf(text: string, entries: readonly KnowledgeEntry[]): string {
  if (entries.some(({ id }) => id === text)) return text;
  const [found, other] = entries.filter(({ id }) => id.startsWith(text));
  if (found !== undefined && other === undefined) return found.id;
  const problem = found === undefined ? "No knowledge entry matches" : "Several knowledge entries match";
  throw new CommandError(`${problem} '${visible(text)}'`, exitCodes.failed, ["See: cody knowledge list --all"]);
}

/** Removes replaced entries, which models no longer see, and with --older-than old ones. */
export async function pruneKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const { args, flags } = context;
  if (args.length > 0) throw usageError("Usage: cody knowledge prune [--older-than <age>] [--dry-run]");
  const oldest =
    flags.olderThan === undefined ? -Infinity : currentTime(context) - parseAge("--older-than", flags.olderThan);
  const isStale = ({ timestamp }: KnowledgeEntry): boolean => Date.parse(timestamp) < oldest;
  const store = await openProjectStore(context);
  if (flags.dryRun) {
    await readEntries(context, store);
    const ids = await store.prunable(isStale);
    const text = ids.length === 0 ? "Nothing would be removed." : `Would remove: ${ids.join(", ")}`;
    await printResult(context, { text, json: { dryRun: true, removed: ids } });
    return 0;
  }
  const { ids, lines } = await saveOrExplain(() => store.prune(isStale));
  await printResult(context, {
    text: `✓ Removed ${counted(lines, "line")}`,
    json: { dryRun: false, removed: ids, lines },
  });
  return 0;
}
