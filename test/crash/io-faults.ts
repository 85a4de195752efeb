import type { DurableDisk } from "./durable-disk.js";
import type { IoCall } from "./io-calls.js";

/** The failure of one call or, with `stays`, of every call of its name until the fault is healed. */
export interface Fault {
  readonly name: string;
  readonly stays: boolean;
  act(call: IoCall, disk: DurableDisk): Promise<unknown>;
}

const syncs = new Set(["fdatasync", "fsync"]);
/** Calls that need, or may need, room on the disk. */
const needRoom = new Set(["mkdir", "write", "ftruncate", "lock write", "lock link", "lock rename", ...syncs]);
const opens = new Set(["open", "lock open"]);
/** Calls that may report an error although they took effect. */
const mayTakeEffect = new Set(["write", "ftruncate", "lock link", "lock rename", "lock rm", ...syncs]);

/** Every way a call can fail. */
export function faultsOf(call: string): Fault[] {
  const codes = ["EIO", ...(needRoom.has(call) ? ["ENOSPC"] : []), ...(opens.has(call) ? ["ENOSPC", "EMFILE"] : [])];
  return [
    ...codes.flatMap((code) => [false, true].map((stays) => failing(code, stays))),
    ...(mayTakeEffect.has(call) ? [doneButFailing] : []),
    ...(call === "write" ? writeFaults : []),
  ];
}

/** A disk with room for this many bytes: what fits is written, and nothing more until the fault is healed. */
export function fullAfter(bytes: number): Fault {
  let room = bytes;
  return {
    name: `full after ${bytes} bytes`,
    stays: true,
    act: async (call, disk) => {
      if (room === 0) throw error("ENOSPC");
      const written = (await write(call, disk, room)) as number;
      room -= written;
      return written;
    },
  };
}

function failing(code: string, stays: boolean): Fault {
  return { name: stays ? `${code} until it is gone` : code, stays, act: (call, disk) => fail(code, call, disk) };
}

const doneButFailing: Fault = {
  name: "done, and EIO",
  stays: false,
  act: async (call, disk) => {
    await disk.perform(call);
    throw error("EIO");
  },
};

const writeFaults: readonly Fault[] = [
  { name: "one byte is written", stays: true, act: (call, disk) => write(call, disk, 1) },
  { name: "half is written", stays: false, act: (call, disk) => write(call, disk, half(call)) },
  { name: "nothing is written", stays: true, act: () => Promise.resolve(0) },
  ...[false, true].map((stays) => ({
    name: stays ? "half is written, then ENOSPC, until it is gone" : "half is written, then ENOSPC",
    stays,
    act: async (call: IoCall, disk: DurableDisk): Promise<never> => {
      await write(call, disk, half(call));
      throw error("ENOSPC");
    },
  })),
];

async function fail(code: string, { name, args }: IoCall, disk: DurableDisk): Promise<never> {
  if (syncs.has(name)) disk.lost(args[0] as number);
  throw error(code);
}

function error(code: string): Error {
  return Object.assign(new Error(`${code}: a fault of the test, at /some/secret/path`), { code });
}

function half({ args }: IoCall): number {
  return Math.ceil((args[1] as Uint8Array).length / 2);
}

function write(call: IoCall, disk: DurableDisk, length: number): Promise<unknown> {
  const [fd, bytes] = call.args as [number, Uint8Array];
  return disk.perform(call, [fd, bytes.subarray(0, length)]);
}
