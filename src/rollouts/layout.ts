import { basename, dirname, join, resolve } from "node:path";
import { bareId, isConversationId, shownId } from "../messages/conversation-id.js";
import type { Layout } from "../messages/config.js";

export interface NewRollout {
  readonly conversationId: string;
  readonly now: Date;
  readonly cwd: string;
}

const suffix = ".jsonl";
/** The second id is that of a file Codex began when turns were taken back; the conversation keeps the first. */
const codexName = /^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-f-]{36})(?:_[0-9a-f-]{36})?$/;
const maxFolderBytes = 200;
const keptChars = 40;

/** Where the file of a new conversation goes, below the directory of its layout. */
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

/** The id a file name stands for, in any layout; none for foreign files. */
export function idOfName(name: string): string | undefined {
  if (!name.endsWith(suffix)) return undefined;
  const stem = name.slice(0, -suffix.length);
  const id = shownId(codexName.exec(stem)?.[1] ?? stem);
  return isConversationId(id) ? id : undefined;
}

/**
 * The path of something that stands beside a rollout. Old Codex takes any file below its sessions whose name holds the
 * id it looks for, so beside a rollout with a name of Codex's ours must not.
 */
export function besideRollout(path: string, ending: string): string {
  const name = basename(path);
  if (!codexName.test(name.slice(0, -suffix.length))) return `${path}.${ending}`;
  return join(dirname(path), `.cody-${shortHash(name)}.${ending}`);
}

/** The folder of a project: its path without the first slash, every other an underscore. */
export function projectFolder(cwd: string): string {
  // A name like that of a file would be taken for one.
  const name = resolve(cwd).slice(1).replaceAll("/", "_").replaceAll(suffix, "_jsonl") || "_";
  if (Buffer.byteLength(name) <= maxFolderBytes) return name;
  return `${shortHash(name)}_${Array.from(name).slice(-keptChars).join("")}`;
}

/** Node's cryptography takes longer to load than a list has time for, and lists need none. */
function shortHash(text: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Codex names files by the clock on the wall; times inside of them are UTC. */
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
