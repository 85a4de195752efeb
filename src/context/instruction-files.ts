import { constants, stat as statWithCallback } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { systemCode } from "../messages/system-error.js";
import { visible } from "../messages/visible.js";
import { toldText } from "./told-text.js";

/** How much all instruction files of a project may say together, and those of a home again; as Codex has it. */
export const maxInstructionBytes = 32 * 1024;

/** Of each group the first that is there counts. */
const groups = [["AGENTS.override.md", "AGENTS.md"], ["CLAUDE.md"]] as const;

/** Where instructions may lie, and out of which folder none of them may lead; a home may link to anywhere. */
export interface InstructionPlace {
  readonly folder: string;
  readonly root?: string;
}

/** A file that is there, and by what it is known that it has not changed. */
export interface FoundInstructions extends Pick<InstructionPlace, "root"> {
  readonly path: string;
  readonly stamp: string;
}

export interface InstructionBlock {
  readonly path: string;
  readonly text: string;
}

export interface ReadInstructions {
  readonly blocks: readonly InstructionBlock[];
  /** What a person should know: what was cut or left out, and why. */
  readonly notices: readonly string[];
}

/** Looks which instruction files are there, in the order of the places; nothing is read. */
export async function findInstructions(places: readonly InstructionPlace[]): Promise<FoundInstructions[]> {
  const found = places.map(async ({ folder, root }) => {
    const inFolder = groups.map((names) => Promise.all(names.map((name) => look(join(folder, name), root))));
    return (await Promise.all(inFolder)).map((files) => files.find((file) => file !== undefined));
  });
  return (await Promise.all(found)).flat().filter((file) => file !== undefined);
}

/** With a callback: most of these files are not there, and saying so by a promise takes twice as long. */
function look(path: string, root: string | undefined): Promise<FoundInstructions | undefined> {
  return new Promise((resolve) => {
    statWithCallback(path, { bigint: true }, (error, stats) => {
      if (error !== null) return resolve(undefined);
      const { dev, ino, size, mtimeNs, ctimeNs, mode } = stats;
      const stamp = [path, dev, ino, size, mtimeNs, ctimeNs, mode].join(":");
      resolve({ path, stamp, ...(root === undefined ? {} : { root }) });
    });
  });
}

/** Reads them until so many bytes are reached. Whatever a file is, the others are still read. */
export async function readInstructions(found: readonly FoundInstructions[]): Promise<ReadInstructions> {
  const blocks: InstructionBlock[] = [];
  const notices: string[] = [];
  let room = maxInstructionBytes;
  for (const file of found) {
    const path = visible(file.path);
    try {
      const { text, bytes, isCut } = await readStart(file, room);
      room -= bytes;
      if (isCut) notices.push(`${path} was cut: instruction files may have ${maxInstructionBytes} bytes together`);
      // Many projects have one file under two names.
      if (text === "" || blocks.some((block) => block.text === text)) continue;
      blocks.push({ path, text: isCut ? `${text}\n[The rest of this file was left out: it is too long.]` : text });
    } catch (error) {
      notices.push(`${path} was not read: ${error instanceof UnfitFile ? error.message : reasonOf(error)}`);
    }
  }
  return { blocks, notices };
}

class UnfitFile extends Error {}

function reasonOf(error: unknown): string {
  const code = systemCode(error);
  if (code === undefined) throw error;
  return code === "EACCES" ? "permission denied" : code;
}

interface FileStart {
  readonly text: string;
  readonly bytes: number;
  readonly isCut: boolean;
}

async function readStart({ path, root }: FoundInstructions, room: number): Promise<FileStart> {
  // A device may act when it is opened, and a pipe is nobody's instructions.
  if (!(await stat(path)).isFile()) throw new UnfitFile("it is no regular file");
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new UnfitFile("it is no regular file");
    if (root !== undefined && !(await realPathOf(file, path)).startsWith(root.endsWith(sep) ? root : root + sep)) {
      throw new UnfitFile("it leads out of the project");
    }
    const bytes = await readBytes(file, room + 1);
    if (bytes.includes(0)) throw new UnfitFile("it is no text");
    const isCut = bytes.length > room;
    const kept = bytes.subarray(0, room);
    // A character that was cut in two is left out.
    return { text: toldText(new TextDecoder().decode(kept, { stream: isCut })).trim(), bytes: kept.length, isCut };
  } finally {
    await file.close();
  }
}

/** Of what was opened, where the system can tell: what the path leads to may be something else by now. */
async function realPathOf(file: FileHandle, path: string): Promise<string> {
  return await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(path));
}

async function readBytes(file: FileHandle, count: number): Promise<Buffer> {
  const buffer = Buffer.alloc(count);
  let length = 0;
  while (length < count) {
    const { bytesRead } = await file.read(buffer, length, count - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
