import { createHash } from "node:crypto";
import { join } from "node:path";
import { readRegular } from "../fs/open-regular.js";
import { findCommonDirectory, findGitDirectory, readSmall } from "./git-directory.js";

const maxIndexBytes = 256 * 1024 * 1024;

/** The part of an entry before its hash: times, device, inode, mode, owner and size. */
const statBytes = 40;

/** Bits in the flags of an entry: a second word of flags follows; the length of its name, as far as it fits. */
const [extendedFlag, nameMask] = [0x4000, 0x0fff];

/** The staged files: the hash of each content by its path relative to the root of the repository. */
export interface GitIndex {
  readonly hashes: ReadonlyMap<string, string>;
  readonly algorithm: "sha1" | "sha256";
}

/** Reads the index of a repository without running git; undefined if there is none that can be read. */
export async function readGitIndex(root: string): Promise<GitIndex | undefined> {
  try {
    const directory = await findGitDirectory(root);
    const config = (await readSmall(join(await findCommonDirectory(directory), "config"))) ?? "";
    const algorithm = /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? "sha256" : "sha1";
    const bytes = await readRegular(join(directory, "index"), { links: "refuse", maxBytes: maxIndexBytes });
    return { hashes: hashesIn(bytes, algorithm === "sha1" ? 20 : 32), algorithm };
  } catch {
    return undefined;
  }
}

/** The hash by which git identifies a file's content. */
export function contentHash(content: Uint8Array, algorithm: GitIndex["algorithm"]): string {
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest("hex");
}

/** Versions 2 to 4 of the format; throws where the bytes end too early. */
function hashesIn(bytes: Buffer, hashBytes: number): Map<string, string> {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) throw new Error("unknown index");
  const hashes = new Map<string, string>();
  let at = 12;
  let last = Buffer.alloc(0);
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const start = at;
    const hash = bytes.toString("hex", start + statBytes, start + statBytes + hashBytes);
    const flags = bytes.readUInt16BE(start + statBytes + hashBytes);
    at = start + statBytes + hashBytes + ((flags & extendedFlag) === 0 ? 2 : 4);
    let kept = 0;
    if (version === 4) {
      const prefix = prefixLength(bytes, at);
      kept = last.length - prefix.dropped;
      at = prefix.end;
    }
    const length = flags & nameMask;
    const end = version < 4 && length < nameMask ? at + length : bytes.indexOf(0, at);
    if (end < at || end > bytes.length) throw new Error("the index ends too early");
    last = Buffer.concat([last.subarray(0, kept), bytes.subarray(at, end)]);
    hashes.set(last.toString(), hash);
    // Older versions fill up each entry with one to eight zeros.
    at = version === 4 ? end + 1 : start + (Math.floor((end - start) / 8) + 1) * 8;
  }
  return hashes;
}

/** Reads the number of bytes to drop from the previous name, which git writes with a variable length. */
function prefixLength(bytes: Buffer, start: number): { readonly dropped: number; readonly end: number } {
  let at = start;
  let byte = bytes.readUInt8(at++);
  let dropped = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes.readUInt8(at++);
    dropped = ((dropped + 1) << 7) | (byte & 0x7f);
  }
  return { dropped, end: at };
}
