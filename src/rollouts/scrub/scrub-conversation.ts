import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bareId } from "../../base/text/conversation-id.js";
import { blobFolder } from "../file/blobs.js";
import { companionPath } from "../layout.js";
import type { RepairFiles } from "../repair/repair-files.js";
import { type FileScrub, findSecretsInFile, scrubFile, type ScrubRequest } from "./scrub-file.js";

export interface ConversationScrub extends ScrubRequest {
  readonly path: string;
  /** Path of the index of names. */
  readonly names?: string | undefined;
}

/**
 * Searches every file that may contain text of a conversation: its rollout, the files beside it, and the name index.
 */
export async function findSecrets(scrub: ConversationScrub): Promise<FileScrub[]> {
  const found: FileScrub[] = [];
  for (const { path, request } of await filesOf(scrub)) found.push(await findSecretsInFile(path, request));
  for (const path of await blobsOf(scrub)) found.push(await findSecretsInBlob(path, scrub));
  return found;
}

/** Removes the secrets from these files. A blob that contains one is deleted as a whole. */
export async function scrubConversation(files: RepairFiles, scrub: ConversationScrub): Promise<FileScrub[]> {
  const temporary = companionPath(scrub.path, "scrub.tmp");
  const found: FileScrub[] = [];
  for (const { path, request } of await filesOf(scrub)) found.push(await scrubFile(files, path, temporary, request));
  for (const path of await blobsOf(scrub)) {
    const blob = await findSecretsInBlob(path, scrub);
    // Its name is the hash of its content, so it cannot be edited, and the model never saw it.
    if (blob.hitLines > 0) await files.remove(path);
    found.push(blob);
  }
  return found;
}

/** A blob can be any text, so it is searched as a whole. */
async function findSecretsInBlob(path: string, { redactor }: ConversationScrub): Promise<FileScrub> {
  const text = await readFile(path, "utf8");
  const found = { known: 0, named: 0, shaped: 0 };
  const redacted = redactor.redact(text, (kind) => (found[kind] += 1));
  const hitLines = redacted === text ? 0 : 1;
  return { file: basename(path), lines: 1, found, hitLines, hits: [], isNumbered: false, kept: [] };
}

async function blobsOf({ path }: ConversationScrub): Promise<string[]> {
  const folder = blobFolder(path);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.toSorted().map((name) => join(folder, name));
}

interface ScrubbedFile {
  readonly path: string;
  readonly request: ScrubRequest;
}

async function filesOf({ path, names, ...request }: ConversationScrub): Promise<ScrubbedFile[]> {
  const beside = (await readdir(dirname(path))).filter((name) => isBackup(name, path)).toSorted();
  const own = [path, ...beside.map((name) => join(dirname(path), name))].map((file) => ({ path: file, request }));
  const hasNames = names !== undefined && (await isFile(names));
  const id = bareId(request.conversationId);
  return hasNames ? [...own, { path: names, request: { ...request, isWanted: (line) => line.includes(id) } }] : own;
}

/** Matches torn lines and backups from repairs. */
function isBackup(name: string, path: string): boolean {
  return ["torn-", "backup-"].some((ending) => name.startsWith(basename(companionPath(path, ending))));
}

async function isFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}
