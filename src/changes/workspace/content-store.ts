import { createHash, randomBytes } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  closeSync,
  openSync,
  readSync,
} from "node:fs";
import { join } from "node:path";

const packName = /^[0-9a-f]{16}\.pack$/;

const chunkBytes = 64 * 1024;

const maxHeaderBytes = 16 * 1024 * 1024;

const newline = 0x0a;

const contentName = /^[0-9a-f]{64}$/;
/**
 * From this many contents or bytes on, one pack file is written, because a thousand files take seconds on a busy
 * disk.
 */
const packedFrom = 32;
const maxWaitingBytes = 32_000_000;

/**
 * A folder of contents named by their hash: a few as single files, many in one pack. Nothing is synced to disk,
 * because a damaged content does not match its name and counts as missing.
 */
export class ContentStore {
  readonly folder: string;
  readonly #looseNames: Set<string>;
  readonly #packed: Map<string, PackedContent>;
  readonly #waiting = new Map<string, Uint8Array>();
  #waitingBytes = 0;

  /** The folder is created by the first write. */
  constructor(folder: string) {
    this.folder = folder;
    const names = namesIn(folder);
    this.#looseNames = new Set(names.filter((name) => contentName.test(name)));
    this.#packed = new Map(names.filter(isPackName).flatMap((pack) => packedIn(folder, pack)));
  }

  has(name: string): boolean {
    return this.#looseNames.has(name) || this.#packed.has(name) || this.#waiting.has(name);
  }

  get names(): ReadonlySet<string> {
    return new Set([...this.#looseNames, ...this.#packed.keys()]);
  }

  /** The content is on disk only after `flush`. */
  put(bytes: Uint8Array): string {
    const name = hashOf(bytes);
    if (this.has(name)) return name;
    this.#waiting.set(name, bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > maxWaitingBytes) this.flush();
    return name;
  }

  flush(): void {
    if (this.#waiting.size > 0) mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    if (this.#waiting.size < packedFrom && this.#waitingBytes < maxWaitingBytes) {
      for (const [name, bytes] of this.#waiting) {
        writeAtomically(join(this.folder, name), bytes);
        this.#looseNames.add(name);
      }
    } else {
      const pack = `${randomBytes(8).toString("hex")}.pack`;
      writeAtomically(join(this.folder, pack), packed(this.#waiting));
      for (const [name, content] of packedIn(this.folder, pack)) this.#packed.set(name, content);
    }
    this.#waiting.clear();
    this.#waitingBytes = 0;
  }

  /** Returns undefined when the content is missing or does not match its name. */
  get(name: string): Buffer | undefined {
    try {
      if (!this.#looseNames.has(name) && !this.#packed.has(name)) return undefined;
      const bytes = this.raw(name);
      return hashOf(bytes) === name ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns the content even if it does not match its name. */
  raw(name: string): Buffer {
    const place = this.#looseNames.has(name) ? undefined : this.#packed.get(name);
    return place === undefined ? readFileSync(join(this.folder, name)) : readPacked(this.folder, place);
  }

  /** Names of the files that hold contents. */
  get files(): ReadonlySet<string> {
    return new Set([...this.#looseNames, ...[...this.#packed.values()].map(({ pack }) => pack)]);
  }

  /** Removes contents that must not stay; packs that hold other contents as well are rewritten. */
  drop(names: ReadonlySet<string>): void {
    const packs = new Set([...this.#packed].flatMap(([name, { pack }]) => (names.has(name) ? [pack] : [])));
    for (const pack of packs) {
      const remaining = packedIn(this.folder, pack).filter(([name]) => !names.has(name));
      const contents = remaining.map(([name, place]) => [name, readPacked(this.folder, place)] as const);
      writeAtomically(join(this.folder, pack), packed(new Map(contents)));
      for (const [name, { pack: other }] of this.#packed) if (other === pack) this.#packed.delete(name);
      for (const [name, place] of packedIn(this.folder, pack)) this.#packed.set(name, place);
    }
    for (const name of this.#looseNames) {
      if (!names.has(name)) continue;
      rmSync(join(this.folder, name), { force: true });
      this.#looseNames.delete(name);
    }
  }

  /** Removes unused contents; a pack is removed only when none of its contents is in use. */
  remove(unwanted: ReadonlySet<string>): void {
    const wantedPacks = new Set([...this.#packed].flatMap(([name, { pack }]) => (unwanted.has(name) ? [] : [pack])));
    for (const [name, { pack }] of this.#packed) {
      if (wantedPacks.has(pack)) continue;
      rmSync(join(this.folder, pack), { force: true });
      this.#packed.delete(name);
    }
    for (const name of this.#looseNames) {
      if (!unwanted.has(name)) continue;
      rmSync(join(this.folder, name), { force: true });
      this.#looseNames.delete(name);
    }
  }
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function writeAtomically(path: string, bytes: Uint8Array | string): void {
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, bytes, { mode: 0o600, flag: "wx" });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Position of a content in a pack. */
interface PackedContent {
  readonly pack: string;
  readonly offset: number;
  readonly bytes: number;
}

type Header = readonly (readonly [name: string, bytes: number])[];

function isPackName(name: string): boolean {
  return packName.test(name);
}

/** Encodes a pack: a line of JSON that lists names and sizes, then the contents in the same order. */
function packed(contents: ReadonlyMap<string, Uint8Array>): Buffer {
  const header: Header = [...contents].map(([name, bytes]) => [name, bytes.length]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...contents.values()]);
}

/** Lists the contents of a pack; empty when it cannot be read. */
function packedIn(folder: string, pack: string): [name: string, content: PackedContent][] {
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

function readPacked(folder: string, { pack, offset, bytes }: PackedContent): Buffer {
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
    throw new Error(`${path} has an invalid header`);
  } finally {
    closeSync(file);
  }
}
