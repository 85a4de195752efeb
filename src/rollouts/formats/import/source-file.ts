import { realpath, stat } from "node:fs/promises";
import { ImportError } from "../../../base/errors.js";
import { type LineObject, readLineBytes, withoutMark } from "../../file/line-object.js";
import { rawBatches } from "../../file/raw-lines.js";
import type { Losses } from "./losses.js";
import type { SourceFile } from "./source.js";

/** Larger files are rejected, because even an index of their entries would not fit in memory. */
const maxSourceBytes = 8 * 1024 ** 3;

export interface NumberedObject {
  /** Starts at 1. */
  readonly number: number;
  readonly value: LineObject;
}

/** Resolves a path given by the user; links to files are followed, and anything but a regular file is rejected. */
export async function sourceFile(named: string): Promise<SourceFile> {
  const path = await realpath(named).catch(() => undefined);
  const stats = path === undefined ? undefined : await stat(path).catch(() => undefined);
  if (path === undefined || stats === undefined) throw new ImportError(named, "file not found");
  if (!stats.isFile()) throw new ImportError(named, "it is not a regular file");
  if (stats.size === 0) throw new ImportError(named, "it is empty");
  if (stats.size > maxSourceBytes) {
    throw new ImportError(named, `it is larger than ${maxSourceBytes / 1024 ** 3} GiB`);
  }
  return { path, bytes: stats.size };
}

/** Yields the readable lines and records the others in `losses`. */
export async function* sourceLines({ path, bytes }: SourceFile, losses?: Losses): AsyncGenerator<NumberedObject> {
  let number = 0;
  for await (const batch of rawBatches(path, path, { upTo: bytes })) {
    for (const raw of batch) {
      number += 1;
      if (raw.status === "too_long") {
        losses?.damagedLine(number, "the line is too long; the rest of the file was not read");
        return;
      }
      const read = readLineBytes(number === 1 ? withoutMark(raw.bytes) : raw.bytes);
      if (read.status === "object") yield { number, value: read.value };
      else if (read.status === "bad") losses?.damagedLine(number, raw.terminated ? read.detail : "cut off");
    }
  }
}
