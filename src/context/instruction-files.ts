import { constants, stat as statWithCallback } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { systemCode, systemReason } from "../base/system-error.js";
import { visible } from "../base/text/visible.js";
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

/**
 * Reads them until so many bytes are reached, from the nearest folder outwards: what is said there is meant most, and
 * the most general is cut first. They are told in the order they were given. Whatever a file is, the others are read.
 */
export async function readInstructions(found: readonly FoundInstructions[]): Promise<ReadInstructions> {
  const blocks = new Map<FoundInstructions, InstructionBlock>();
  const notices = new Map<FoundInstructions, string>();
  const seen = new Set([""]);
  let room = maxInstructionBytes;
  for (const file of nearestFirst(found)) {
    const path = visible(file.path);
    try {
      const bytes = await readStart(file);
      const whole = textOf(bytes, maxInstructionBytes);
      // Many projects have one file under two names.
      if (seen.has(whole)) continue;
      seen.add(whole);
      const isCut = bytes.length > room;
      const text = textOf(bytes, room);
      room -= Math.min(bytes.length, room);
      if (isCut) notices.set(file, `${path} was cut: instruction files may have ${maxInstructionBytes} bytes together`);
      if (text === "") continue;
      blocks.set(file, { path, text: isCut ? `${text}\n[The rest of this file was left out: it is too long.]` : text });
    } catch (error) {
      notices.set(
        file,
        `${path} was not read: ${error instanceof UnfitFile ? error.message : unreadableReason(error)}`,
      );
    }
  }
  return {
    blocks: found.flatMap((file) => blocks.get(file) ?? []),
    notices: found.flatMap((file) => notices.get(file) ?? []),
  };
}

/** The last folder first; those in one folder stay in their order. */
function nearestFirst(found: readonly FoundInstructions[]): FoundInstructions[] {
  const folders = [...new Set(found.map(({ path }) => dirname(path)))].toReversed();
  return folders.flatMap((folder) => found.filter(({ path }) => dirname(path) === folder));
}

class UnfitFile extends Error {}

function unreadableReason(error: unknown): string {
  const code = systemCode(error);
  if (code === undefined) throw error;
  return systemReason(error);
}

/** One byte more than can be told says that there is more. */
async function readStart({ path, root }: FoundInstructions): Promise<Buffer> {
  // A device may act when it is opened, and a pipe is nobody's instructions.
  if (!(await stat(path)).isFile()) throw new UnfitFile("it is no regular file");
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new UnfitFile("it is no regular file");
    if (root !== undefined && !(await realPathOf(file, path)).startsWith(root.endsWith(sep) ? root : root + sep)) {
      throw new UnfitFile("it leads out of the project");
    }
    const bytes = await readBytes(file, maxInstructionBytes + 1);
    if (bytes.includes(0)) throw new UnfitFile("it is no text");
    return bytes;
  } finally {
    await file.close();
  }
}

/** A character that was cut in two is left out. */
function textOf(bytes: Buffer, room: number): string {
  const isCut = bytes.length > room;
  return toldText(new TextDecoder().decode(bytes.subarray(0, room), { stream: isCut })).trim();
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
