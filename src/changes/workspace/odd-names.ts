import { isUtf8 } from "node:buffer";
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { hashOf } from "./content-store.js";

/** Something whose name is no UTF-8: no path, diff or record can have it, so only whether it has changed is known. */
export interface OddEntry {
  /** With what is no ASCII as git writes it. */
  readonly name: string;
  readonly isFolder: boolean;
  /** The same as long as nobody has touched it, or what is in it. */
  readonly stamp: string;
}

/** Those in a folder whose names, read as text, are these; what is in them too is looked at once by `count`. */
export function oddEntries(folder: string, names: readonly string[], count: () => void): OddEntry[] {
  // What could not be read in a name has become this character.
  if (!names.some((name) => name.includes("\uFFFD"))) return [];
  return namesIn(Buffer.from(folder))
    .filter((name) => !isUtf8(name))
    .flatMap((name) => {
      const stats = statsOf(inside(Buffer.from(folder), name));
      if (stats === undefined) return [];
      const stamp = stampWithin(inside(Buffer.from(folder), name), stats, count);
      return [{ name: asciiName(name), isFolder: stats.isDirectory(), stamp }];
    });
}

function stampWithin(path: Buffer, stats: BigIntStats, count: () => void): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  const own = [dev, ino, size, mtimeNs, ctimeNs].join(":");
  if (!stats.isDirectory()) return own;
  const inner = namesIn(path).map((name) => {
    count();
    const found = statsOf(inside(path, name));
    return found === undefined ? "" : stampWithin(inside(path, name), found, count);
  });
  return hashOf(Buffer.from([own, ...inner].join("\n")));
}

function namesIn(folder: Buffer): Buffer[] {
  try {
    return readdirSync(folder, { encoding: "buffer" }).toSorted((a, b) => Buffer.compare(a, b));
  } catch {
    return [];
  }
}

function statsOf(path: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function inside(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), name]);
}

function asciiName(name: Buffer): string {
  return Array.from(name, shownByte).join("");
}

function shownByte(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
}
