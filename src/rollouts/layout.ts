import { basename, dirname, join, resolve } from "node:path";
import { bareId, isConversationId, shownId } from "../base/text/conversation-id.js";
import type { Layout } from "../messages/settings/config.js";

interface NewRollout {
  readonly conversationId: string;
  readonly now: Date;
  readonly cwd: string;
}

const suffix = ".jsonl";
/** The second id belongs to a file that Codex started after a rollback; the conversation keeps the first id. */
const codexName = /^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-f-]{36})(?:_[0-9a-f-]{36})?$/;
const maxFolderBytes = 200;
const keptChars = 40;

/** Returns the path for a new conversation below the directory of its layout. */
export function newRolloutPath(layout: Layout, directory: string, rollout: NewRollout): string {
  return join(directory, ...namesOf[layout](rollout)) + suffix;
}

const namesOf = {
  cody: ({ conversationId }) => [shownId(conversationId)],
  project: ({ conversationId, cwd }) => [projectFolder(cwd), bareId(conversationId)],
  codex: ({ conversationId, now }) => {
    const { year, month, day, time } = localTime(now);
    return [year, month, day, `rollout-${year}-${month}-${day}T${time}-${bareId(conversationId)}`];
  },
} satisfies Record<Layout, (rollout: NewRollout) => string[]>;

/** Returns the conversation id in a file name of any layout; undefined for foreign files. */
export function idFromFileName(name: string): string | undefined {
  if (!name.endsWith(suffix)) return undefined;
  const stem = name.slice(0, -suffix.length);
  const id = shownId(codexName.exec(stem)?.[1] ?? stem);
  return isConversationId(id) ? id : undefined;
}

/**
 * Returns the path of a file beside a rollout. Old Codex opens any file below its sessions whose name contains the
 * id, so files beside a rollout named by Codex must not contain it.
 */
export function companionPath(path: string, ending: string): string {
  const name = basename(path);
  if (!codexName.test(name.slice(0, -suffix.length))) return `${path}.${ending}`;
  return join(dirname(path), `.cody-${shortHash(name)}.${ending}`);
}

/** Returns a project's folder name: its path without the first slash, with the other slashes as underscores. */
export function projectFolder(cwd: string): string {
  // Must not contain the suffix of rollout files, because readers would take the folder for a file.
  const name = resolve(cwd).slice(1).replaceAll("/", "_").replaceAll(suffix, "_jsonl") || "_";
  if (Buffer.byteLength(name) <= maxFolderBytes) return name;
  return `${shortHash(name)}_${Array.from(name).slice(-keptChars).join("")}`;
}

/** Loads node:crypto on demand, because it takes too long to load for lists, which do not need it. */
function shortHash(text: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Codex uses local time in file names; times inside the files are UTC. */
function localTime(now: Date): { year: string; month: string; day: string; time: string } {
  const [hours, minutes, seconds] = [now.getHours(), now.getMinutes(), now.getSeconds()].map(twoDigits);
  return {
    year: String(now.getFullYear()).padStart(4, "0"),
    month: twoDigits(now.getMonth() + 1),
    day: twoDigits(now.getDate()),
    time: `${hours}-${minutes}-${seconds}`,
  };
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** Returns the folder with the changes made by a conversation's turns. It is moved together with the rollout. */
export function snapshotFolder(rolloutPath: string): string {
  return companionPath(rolloutPath, "snapshots");
}
