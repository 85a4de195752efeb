import * as fs from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { encodedLine } from "./sample-line.js";
import { inLanes, perSecond } from "./measure.js";

const bytes = Buffer.from(encodedLine);
/** The number of threads in Node's pool. */
const poolThreads = 4;

/** Writes the same lines directly to files. */
export interface BareFiles extends AsyncDisposable {
  readonly lineBytes: number;
  oneByOne(lines: number): Promise<number>;
  grouped(lines: number, linesPerSync: number): Promise<number>;
  /** Appends `linesEach` lines to every file through the thread pool. */
  inPool(linesEach: number): Promise<number>;
}

export async function openBareFiles(directory: string, count: number): Promise<BareFiles> {
  const folder = join(directory, "bare");
  await mkdir(folder);
  const fds = Array.from({ length: count }, (_, index) => fs.openSync(join(folder, String(index)), "a"));
  const [first = 0] = fds;
  return {
    lineBytes: bytes.length,
    oneByOne: (lines) =>
      perSecond(lines, () => {
        for (let index = 0; index < lines; index += 1) writeAndSync(first, bytes);
      }),
    grouped: (lines, linesPerSync) => {
      const group = Buffer.from(encodedLine.repeat(linesPerSync));
      return perSecond(lines, () => {
        for (let index = 0; index < lines; index += linesPerSync) writeAndSync(first, group);
      });
    },
    inPool: (linesEach) =>
      perSecond(fds.length * linesEach, async () => {
        for (let round = 0; round < linesEach; round += 1) {
          await inLanes(poolThreads, fds.length, (index) => writeAndSyncInPool(fds[index] ?? 0));
        }
      }),
    [Symbol.asyncDispose]: async () => {
      for (const fd of fds) fs.closeSync(fd);
    },
  };
}

function writeAndSync(fd: number, buffer: Buffer): void {
  fs.writeSync(fd, buffer);
  fs.fdatasyncSync(fd);
}

function writeAndSyncInPool(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.write(fd, bytes, (writeError) => {
      if (writeError !== null) return reject(writeError);
      fs.fdatasync(fd, (syncError) => (syncError === null ? resolve() : reject(syncError)));
    });
  });
}
