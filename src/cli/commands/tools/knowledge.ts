import { resolve } from "node:path";
import { KnowledgeIndex, ProjectStore } from "../../../actors/knowledge/project-store.js";
import { knowledgeLines } from "../../../actors/knowledge/knowledge-file.js";
import { NotRegularError, readRegular, TooLargeError } from "../../../base/fs/open-regular.js";
import { check } from "../../../base/parse.js";
import { systemCode } from "../../../base/system-error.js";
import { visible } from "../../../base/text/visible.js";
import { redactionRules } from "../../../config/secrets/redact.js";
import { createTextRedactor } from "../../../config/secrets/text-redactor.js";
import { activeKnowledge, knowledgeScore, scoredKnowledge } from "../../../context/knowledge.js";
import { FailureError } from "../../../messages/failure-error.js";
import { type KnowledgeEntry, NewKnowledge } from "../../../messages/tools/knowledge.js";
import { failureText } from "../../../tools/files/file-problem.js";
import { usageError, CommandError, exitCodes } from "../../command-error.js";
import { type Command, type ContextOf, printResult, type CommandContext, currentTime } from "../../context.js";
import { parseAge, counted } from "../../format.js";
import { loadSettings } from "../../load-settings.js";
import { watchSignals } from "../../terminal/interruption.js";
import { readAll } from "../../terminal/read-input.js";
import { FileExistsError, writeNewFile } from "../transfer/new-file.js";

const maxImportBytes = 16 * 1024 * 1024;

const actions: ReadonlyMap<string, Command<"knowledge">> = new Map([
  ["list", listKnowledge],
  ["add", addToKnowledge],
  ["undo", undoKnowledge],
  ["remove", removeFromKnowledge],
  ["prune", pruneKnowledge],
  ["export", exportKnowledge],
  ["import", importKnowledge],
]);

/** Runs a knowledge action for the current project; `list` is the default. */
export async function knowledgeCommand(context: ContextOf<"knowledge">): Promise<number> {
  const [name = "list", ...args] = context.args;
  const action = actions.get(name);
  if (action === undefined) throw usageError(`Unknown action '${name}'`, `Actions: ${[...actions.keys()].join(", ")}`);
  return await action({ ...context, args });
}

/** Saves knowledge entered by a person. */
async function addToKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const given = await entryFromFlags(context);
  if (given["content"] === "") throw usageError("knowledge: the text is empty", 'Usage: cody knowledge add "text"');
  const newEntry = check(NewKnowledge, given, "knowledge");
  const store = await openProjectStore(context);
  const entries = await readEntries(context, store);
  const entry = await saveOrExplain(async () => {
    const created = store.entryOf(newEntry, new KnowledgeIndex(entries), { source: "user" });
    await store.append([created]);
    return created;
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
async function removeFromKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const { args } = context;
  if (args.length === 0) throw usageError("Usage: cody knowledge remove <id...>");
  const store = await openProjectStore(context);
  const entries = await readEntries(context, store);
  const ids = args.map((text) => idOf(text, entries));
  const removed = await saveOrExplain(() => store.remove(ids));
  const left = ids.filter((id) => !removed.includes(id));
  if (left.length > 0) {
    const hint = `Replace it instead: cody knowledge add "..." --supersedes ${left[0]}`;
    const message = `${left.join(", ")} is in .diligent, which cody only reads`;
    throw new CommandError(message, exitCodes.failed, [hint]);
  }
  await printResult(context, { text: `✓ Removed: ${removed.join(", ")}`, json: { removed } });
  return 0;
}

/**
 * Removes entries that models saved: those with the given ids, or the newest. Entries they replaced become active
 * again.
 */
async function undoKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const store = await openProjectStore(context);
  const entries = await readEntries(context, store);
  const undone = undoable(context.args, entries);
  const removedEntries = await saveOrExplain(() => store.undo(undone.map(({ id }) => id)));
  const removed = undone.filter(({ id }) => removedEntries.includes(id));
  if (removed.length < undone.length) {
    const left = undone.flatMap(({ id }) => (removedEntries.includes(id) ? [] : [id]));
    throw new CommandError(`${left.join(", ")} is not in .cody/knowledge/knowledge.jsonl`, exitCodes.failed);
  }
  const ids = new Set(removedEntries);
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
async function pruneKnowledge(context: ContextOf<"knowledge">): Promise<number> {
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

/** The knowledge store of the current project. */
async function openProjectStore(context: CommandContext): Promise<ProjectStore> {
  const { terminal } = context;
  const { root } = await context.projectRoots();
  const { values } = await loadSettings(context);
  const redactor = createTextRedactor(redactionRules(values, terminal.env));
  return new ProjectStore({ root, redactor, now: () => new Date(currentTime(context)) });
}

/** Reads all entries, and reports problems with their file. */
async function readEntries(context: CommandContext, store: ProjectStore): Promise<readonly KnowledgeEntry[]> {
  const { entries, problems } = await store.read();
  for (const problem of problems) await context.tell(problem);
  return entries;
}

/** Turns a write error into a command error with the exit code for unsaved data. */
async function saveOrExplain<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const reason = error instanceof FailureError ? error.message : failureText(error);
    throw new CommandError(`Cannot change the knowledge: ${reason}`, exitCodes.notSaved);
  }
}

/** Lists the knowledge that models see, best first; with --all also replaced entries. */
async function listKnowledge(context: ContextOf<"knowledge">): Promise<number> {
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

/** Prints all entries, one per line, or writes them into a new file. */
async function exportKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const { args, flags, terminal } = context;
  if (args.length > 0) throw usageError("Usage: cody knowledge export [--output <file>]");
  const entries = await readEntries(context, await openProjectStore(context));
  const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  if (flags.output === undefined || flags.output === "-") {
    await terminal.stdout.writeExact(flags.json ? `${JSON.stringify(entries)}\n` : text);
    return 0;
  }
  const path = resolve(terminal.cwd, flags.output);
  using interruption = watchSignals(terminal);
  try {
    await writeNewFile(pieces(text), (attempt) => (attempt === 1 ? path : undefined), interruption.signal);
  } catch (error) {
    if (error instanceof FileExistsError) throw new CommandError(error.message, exitCodes.failed);
    throw error;
  }
  await printResult(context, { text: `✓ Exported to: ${path}`, json: { path, entries: entries.length } });
  return 0;
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}

/** Imports the entries of a file, or with - of stdin; known entries are skipped. */
async function importKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const [path, ...others] = context.args;
  if (path === undefined || others.length > 0) throw usageError("Usage: cody knowledge import <file or ->");
  const lines = knowledgeLines(
    path === "-" ? await readStdin(context) : await textOf(resolve(context.terminal.cwd, path)),
  );
  const entries = lines.flatMap(({ entry }) => entry ?? []);
  const unknown = lines.find(({ entry }) => entry === undefined);
  const skippedCount = lines.length - entries.length;
  if (unknown !== undefined) {
    await context.tell(
      `Skipped ${counted(skippedCount, "line")} with invalid knowledge; the first is line ${unknown.number}`,
    );
  }
  const store = await openProjectStore(context);
  const imported = await saveOrExplain(() => store.import(entries));
  const known = entries.length - imported.length;
  const text = `✓ Imported ${imported.length} of ${entries.length}${known === 0 ? "" : `; ${known} already saved`}`;
  await printResult(context, {
    text,
    json: { imported: imported.map(({ id }) => id), known, passedOver: skippedCount },
  });
  return 0;
}

async function textOf(path: string): Promise<string> {
  try {
    return (await readRegular(path, { links: "follow", maxBytes: maxImportBytes })).toString();
  } catch (error) {
    if (error instanceof NotRegularError) throw new CommandError(error.message, exitCodes.failed);
    if (error instanceof TooLargeError) {
      throw new CommandError(`${path} is larger than ${maxImportBytes} bytes`, exitCodes.failed);
    }
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new CommandError(`Cannot read ${path}: ${code}`, exitCodes.failed);
  }
}
