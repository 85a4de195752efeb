import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { isConversationId } from "../../base/text/conversation-id.js";
import { homePaths } from "../paths.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";

/** Each project, and each conversation directory, has its own active conversation. */
export interface ActiveKey {
  readonly projectRoot: string;
  readonly directory: string;
}

export interface ActiveConversation {
  readonly id: string;
  /** The conversation's file, if it is outside the conversation directory. */
  readonly path?: string;
}

/** More projects than a user can have. */
const maxPointers = 10_000;

/** The conversation that `chat` continues. A damaged pointer counts as none. */
export async function readActive(home: string, key: ActiveKey): Promise<ActiveConversation | undefined> {
  return (await readPointer(pointerPath(home, key)))?.active;
}

/** The active conversations of all projects, with the roots recorded in them. */
export async function readAllActive(home: string): Promise<Pointer[]> {
  const folder = homePaths(home).active;
  const names = await readdir(folder).catch(() => []);
  const paths = names.filter((name) => name.endsWith(".json")).map((name) => join(folder, name));
  const pointers = await Promise.all(paths.slice(0, maxPointers).map(readPointer));
  return pointers.filter((pointer) => pointer !== undefined);
}

interface Pointer {
  readonly active: ActiveConversation;
  /** Empty strings if the pointer does not record them. */
  readonly key: ActiveKey;
}

async function readPointer(file: string): Promise<Pointer | undefined> {
  try {
    const pointer = new Map<string, unknown>(Object.entries(JSON.parse(await readFile(file, "utf8")) as object));
    const [id, path] = [pointer.get("conversationId"), pointer.get("path")];
    if (typeof id !== "string" || !isConversationId(id)) return undefined;
    const active = typeof path === "string" && isAbsolute(path) ? { id, path } : { id };
    const [projectRoot, directory] = [pointer.get("projectRoot"), pointer.get("directory")].map(String);
    return { active, key: { projectRoot: projectRoot ?? "", directory: directory ?? "" } };
  } catch {
    return undefined;
  }
}

export async function writeActive(home: string, key: ActiveKey, { id, path }: ActiveConversation): Promise<void> {
  const pointer = { conversationId: id, ...key, ...(path === undefined ? {} : { path }) };
  await writeAtomic(pointerPath(home, key), `${JSON.stringify(pointer)}\n`);
}

function pointerPath(home: string, { projectRoot, directory }: ActiveKey): string {
  const name = createHash("sha256").update(`${projectRoot}\0${directory}`).digest("hex").slice(0, 32);
  return join(homePaths(home).active, `${name}.json`);
}
