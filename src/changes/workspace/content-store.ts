import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isPackName, packed, type PackedContent, packedIn, readPacked } from "./pack-file.js";

const contentName = /^[0-9a-f]{64}$/;
/** So many contents, or bytes, are written as one file: to make a thousand files takes seconds on a busy disk. */
const packedFrom = 32;
const maxWaitingBytes = 32_000_000;

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Contents in a folder, each called by its hash: few of them as files of their own, many as one. Nothing is synced: a content that
 * does not fit its name is the same as none.
 */
export class ContentStore {
  readonly folder: string;
  readonly #loose: Set<string>;
  readonly #packed: Map<string, PackedContent>;
  readonly #waiting = new Map<string, Uint8Array>();
  #waitingBytes = 0;

  /** The folder is made when something is put into it. */
  constructor(folder: string) {
    this.folder = folder;
    const names = namesIn(folder);
    this.#loose = new Set(names.filter((name) => contentName.test(name)));
    this.#packed = new Map(names.filter(isPackName).flatMap((pack) => packedIn(folder, pack)));
  }

  has(name: string): boolean {
    return this.#loose.has(name) || this.#packed.has(name) || this.#waiting.has(name);
  }

  get names(): ReadonlySet<string> {
    return new Set([...this.#loose, ...this.#packed.keys()]);
  }

  /** It is on disk after `flush`. */
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
        replaceWhole(join(this.folder, name), bytes);
        this.#loose.add(name);
      }
    } else {
      const pack = `${randomBytes(8).toString("hex")}.pack`;
      replaceWhole(join(this.folder, pack), packed(this.#waiting));
      for (const [name, content] of packedIn(this.folder, pack)) this.#packed.set(name, content);
    }
    this.#waiting.clear();
    this.#waitingBytes = 0;
  }

  /** Undefined when it is not there, or not what its name says. */
  get(name: string): Buffer | undefined {
    try {
      if (!this.#loose.has(name) && !this.#packed.has(name)) return undefined;
      const bytes = this.raw(name);
      return hashOf(bytes) === name ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** Also when it is not what its name says. */
  raw(name: string): Buffer {
    const place = this.#loose.has(name) ? undefined : this.#packed.get(name);
    return place === undefined ? readFileSync(join(this.folder, name)) : readPacked(this.folder, place);
  }

  /** The names of the files that contents are in. */
  get files(): ReadonlySet<string> {
    return new Set([...this.#loose, ...[...this.#packed.values()].map(({ pack }) => pack)]);
  }

  /** Removes what must not stay; a file with others is written anew without it. */
  drop(names: ReadonlySet<string>): void {
    const packs = new Set([...this.#packed].flatMap(([name, { pack }]) => (names.has(name) ? [pack] : [])));
    for (const pack of packs) {
      const kept = packedIn(this.folder, pack).filter(([name]) => !names.has(name));
      const contents = kept.map(([name, place]) => [name, readPacked(this.folder, place)] as const);
      replaceWhole(join(this.folder, pack), packed(new Map(contents)));
      for (const [name, { pack: other }] of this.#packed) if (other === pack) this.#packed.delete(name);
      for (const [name, place] of packedIn(this.folder, pack)) this.#packed.set(name, place);
    }
    for (const name of this.#loose) {
      if (!names.has(name)) continue;
      rmSync(join(this.folder, name), { force: true });
      this.#loose.delete(name);
    }
  }

  /** Removes what nobody wants; of what is in one file all or nothing. */
  remove(unwanted: ReadonlySet<string>): void {
    const wantedPacks = new Set([...this.#packed].flatMap(([name, { pack }]) => (unwanted.has(name) ? [] : [pack])));
    for (const [name, { pack }] of this.#packed) {
      if (wantedPacks.has(pack)) continue;
      rmSync(join(this.folder, pack), { force: true });
      this.#packed.delete(name);
    }
    for (const name of this.#loose) {
      if (!unwanted.has(name)) continue;
      rmSync(join(this.folder, name), { force: true });
      this.#loose.delete(name);
    }
  }
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function replaceWhole(path: string, bytes: Uint8Array | string): void {
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, bytes, { mode: 0o600, flag: "wx" });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
