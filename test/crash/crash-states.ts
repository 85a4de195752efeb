import type { Random } from "./random.js";

/** One possible content of written but unsynced bytes after a power failure. */
export interface CrashState {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A disk writes whole blocks in any order. These are small, so that a line spans several. */
const blockBytes = 64;
/** At most this many allocated bytes that were never written. */
const longestGrowth = 200;

/** Truncated or zeroed from each byte on, and the same number of mixtures of lost and scrambled blocks. */
export function crashStates(unsynced: Buffer, random: Random): CrashState[] {
  const ends = Array.from({ length: unsynced.length + 1 }, (_, index) => index);
  return [
    ...ends.map((end) => ({ name: `cut at ${end}`, bytes: unsynced.subarray(0, end) })),
    ...ends.map((end) => ({ name: `zeroed from ${end}`, bytes: zeroed(unsynced, end, unsynced.length) })),
    ...ends.map((end) => ({ name: `grown behind ${end}`, bytes: grown(unsynced.subarray(0, end), random) })),
    ...ends.map((end) => ({ name: `blocks lost up to ${end}`, bytes: inBlocks(unsynced.subarray(0, end), random) })),
    ...ends.map((end) => ({ name: `scrambled from ${end}`, bytes: scrambled(unsynced, end, random) })),
  ];
}

function zeroed(bytes: Buffer, from: number, to: number): Buffer {
  return Buffer.from(bytes).fill(0, from, to);
}

function grown(bytes: Buffer, random: Random): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(random.whole(1, longestGrowth))]);
}

function scrambled(bytes: Buffer, from: number, random: Random): Buffer {
  return Buffer.from(bytes.map((byte, index) => (index < from ? byte : random.whole(0, 255))));
}

function inBlocks(bytes: Buffer, random: Random): Buffer {
  const left = Buffer.from(bytes);
  for (let from = 0; from < left.length; from += blockBytes) {
    const block = left.subarray(from, from + blockBytes);
    const fate = random.whole(0, 3);
    if (fate === 0) block.fill(0);
    if (fate === 1) block.set(scrambled(block, 0, random));
  }
  return left;
}
