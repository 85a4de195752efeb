import { bareId } from "../../../messages/conversation-id.js";
import { ConversationInUseError, FailureError, ImportError } from "../../../messages/errors.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { firstLine } from "../../../rollouts/first-line.js";
import { openSource } from "../../../rollouts/formats/import/open-source.js";
import type { Source } from "../../../rollouts/formats/import/source.js";
import { sourceId } from "../../../rollouts/formats/import/source-id.js";
import type { TurnLinesParts } from "../../../rollouts/formats/import/turn-lines.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import { Carrying, folderOf } from "./imported-lines.js";
import { chooseImportId, type ImportIds } from "./import-id.js";
import type { ImportOptions, ImportResult } from "./import-options.js";
import { namedLine } from "./rename-saved.js";
import type { Store } from "../store/store.js";

export interface ImporterParts extends ImportIds {
  readonly store: Store;
  /** Whether anything is saved at all. */
  readonly saves: boolean;
  readonly thoughts: TurnLinesParts["thoughts"];
  knownProvider(name: string | undefined): string | undefined;
  now(): Date;
}

/** So much may wait to be written before the next of a long source is read. */
const maxWaitingBytes = 8 * 1024 * 1024;

/** Carries one conversation over from a file, or says what would be. */
export async function importConversation(
  parts: ImporterParts,
  path: string,
  { from, force = false, dryRun = false }: ImportOptions,
): Promise<ImportResult> {
  if (!parts.saves && !dryRun) throw new ImportError(path, "nothing is saved, as persistence is off");
  const source = await openSource(path, from);
  const { file, format } = source;
  const origin = await sourceId(source);
  const chosen = await chooseImportId(parts, origin, { file, format, force });
  if (chosen.status === "here") return { ...chosen, path, format };
  if (chosen.status === "exists") {
    const { status, conversationId, sourceBytes } = chosen;
    const grown = sourceBytes !== undefined && file.bytes > sourceBytes;
    return { status, path, format, conversationId, complete: sourceBytes !== undefined, grown };
  }
  const { conversationId } = chosen;
  await using carrying = new Carrying(parts, source);
  const before = await carrying.begin();
  if (dryRun) {
    await carrying.rest(async () => undefined);
    return carrying.result("would_import", path, conversationId, null);
  }
  const created = carrying.createdAt(before, parts.now());
  const { rollout, first } = await opened(parts, source, { conversationId, created, key: origin.key });
  try {
    for (const line of [first, ...before]) rollout.append(line);
    await carrying.rest(async (line) => append(rollout, line, path));
    const { path: fromPath, bytes } = file;
    const imported = { type: "imported", from: fromPath, source_bytes: bytes, format, id: origin.key } as const;
    rollout.append({ timestamp: parts.now().toISOString(), type: "cody", payload: imported });
    const named = carrying.name === undefined ? undefined : namedLine(carrying.name, parts.now());
    if (named !== undefined) rollout.append(named);
    await saved(rollout, path);
  } finally {
    await rollout.close();
  }
  await indexName(parts, conversationId, carrying.name);
  return carrying.result("imported", path, conversationId, rollout.path);
}

interface Opening {
  readonly conversationId: string;
  readonly created: Date;
  readonly key: string;
}

async function opened(
  parts: ImporterParts,
  source: Source,
  { conversationId, created, key }: Opening,
): Promise<{ rollout: Rollout; first: OwnLine }> {
  const { facts, format } = source;
  const cwd = folderOf(source);
  const labels = { provider: parts.knownProvider(facts.provider) ?? "unknown", model: facts.model ?? "unknown" };
  const { outcome, rollout } = await parts.store.open({
    conversationId,
    mode: "create",
    ...labels,
    now: created,
    cwd,
    force: false,
  });
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
  const { branch, commit, repositoryUrl } = facts;
  const git = {
    ...(commit === undefined ? {} : { commit_hash: commit }),
    ...(branch === undefined ? {} : { branch }),
    ...(repositoryUrl === undefined ? {} : { repository_url: repositoryUrl }),
  };
  const first = firstLine({
    conversationId: bareId(conversationId),
    now: created,
    cwd,
    ...labels,
    // It was, wherever that was, and only so Codex lists it.
    source: "interactive",
    git: Object.keys(git).length === 0 ? undefined : git,
    imported: { format, id: key },
  });
  return { rollout, first };
}

async function append(rollout: Rollout, line: OwnLine, path: string): Promise<void> {
  const before = rollout.bytes;
  rollout.append(line);
  // Every so often what was written is waited for, so that no more than that is in memory.
  if (Math.floor(before / maxWaitingBytes) !== Math.floor(rollout.bytes / maxWaitingBytes)) await saved(rollout, path);
}

async function saved(rollout: Rollout, path: string): Promise<void> {
  const outcome = await rollout.flush();
  if (outcome.status !== "not_saved") return;
  throw new FailureError({
    code: "not_saved",
    message: `${path} was not imported as a whole: ${outcome.reason}`,
    retryable: true,
  });
}

async function indexName(parts: ImporterParts, id: string, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  await parts.store.indexName(id, { name, timestamp: parts.now().toISOString() }, "rename");
}
