import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** Where a content is in a file that has many of them. */
export interface PackedContent {
  readonly pack: string;
  readonly offset: number;
  readonly bytes: number;
}

type Header = readonly (readonly [name: string, bytes: number])[];

const packName = /^[0-9a-f]{16}\.pack$/;
const chunkBytes = 64 * 1024;
const maxHeaderBytes = 16 * 1024 * 1024;
const newline = 0x0a;

export function isPackName(name: string): boolean {
  return packName.test(name);
}

/** Many contents as one file: a line of JSON that says what follows, then the contents one after another. */
export function packed(contents: ReadonlyMap<string, Uint8Array>): Buffer {
  const header: Header = [...contents].map(([name, bytes]) => [name, bytes.length]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...contents.values()]);
}

/** What is in a file that was made so; nothing when it cannot be read. */
export function packedIn(folder: string, pack: string): [name: string, content: PackedContent][] {
  try {
    const line = firstLine(join(folder, pack));
    let offset = line.length + 1;
    return (JSON.parse(line.toString()) as Header).map(([name, bytes]) => {
      const content = { pack, offset, bytes };
      offset += bytes;
      return [name, content];
    });
  } catch {
    return [];
  }
}

export function readPacked(folder: string, { pack, offset, bytes }: PackedContent): Buffer {
  const file = openSync(join(folder, pack), "r");
  try {
    const content = Buffer.alloc(bytes);
    readSync(file, content, 0, bytes, offset);
    return content;
  } finally {
    closeSync(file);
  }
}

function firstLine(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const chunks: Buffer[] = [];
    for (let at = 0; at < maxHeaderBytes; at += chunkBytes) {
      const chunk = Buffer.alloc(chunkBytes);
      const length = readSync(file, chunk, 0, chunkBytes, at);
      const end = chunk.subarray(0, length).indexOf(newline);
      if (end !== -1) return Buffer.concat([...chunks, chunk.subarray(0, end)]);
      if (length < chunkBytes) break;
      chunks.push(chunk);
    }
    throw new Error(`${path} does not say what is in it`);
  } finally {
    closeSync(file);
  }
}
