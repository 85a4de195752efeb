import type { ServerResponse } from "node:http";
import type { Pieces, Plan } from "./plan.js";

export interface Pace {
  /** The time between two writes; 0: at once. */
  readonly delayMs: number;
  /** How many pieces go out together. */
  readonly perWrite: number;
}

/** Whether the reader is still there. A plain object: a signal for each of a thousand streams costs more than the writes. */
interface Reader {
  hasLeft: boolean;
  /** Ends what is being waited for. */
  wake: () => void;
}

/** Writes a plan as fast as its pace and its reader allow. Ends early when the reader has left. */
export async function sendPlan(response: ServerResponse, plan: Plan, pace: Pace): Promise<void> {
  const reader: Reader = { hasLeft: false, wake: () => undefined };
  response.once("close", () => {
    reader.hasLeft = true;
    reader.wake();
  });
  if (pace.delayMs > 0) await writePaced(response, plan.pieces, pace, reader);
  else await writeAtOnce(response, plan.pieces, pace, reader);
  if (!reader.hasLeft) await end(response, plan.ending, reader);
}

async function writeAtOnce(
  response: ServerResponse,
  pieces: Pieces,
  { perWrite }: Pace,
  reader: Reader,
): Promise<void> {
  const write = piecesWriter(response);
  for (let index = 0; index < pieces.length && !reader.hasLeft; index += perWrite) {
    if (!write(pieces, index, index + perWrite)) await drained(response, reader);
  }
}

/**
 * Piece n is due n delays after the start: a late timer is made up for, so a stream as a whole is never late. One
 * promise for all of them: with one for each, waiting costs as much as making and writing a piece.
 */
function writePaced(
  response: ServerResponse,
  pieces: Pieces,
  { delayMs, perWrite }: Pace,
  reader: Reader,
): Promise<void> {
  return new Promise((resolve) => {
    const write = piecesWriter(response);
    const started = performance.now();
    let index = 0;
    let writes = 0;
    const step = (): void => {
      if (reader.hasLeft) return;
      const now = performance.now();
      const due = 1 + Math.floor((now - started) / delayMs);
      let hasRoom = true;
      if (due > writes) {
        const upTo = index + (due - writes) * perWrite;
        hasRoom = write(pieces, index, upTo);
        [index, writes] = [upTo, due];
      }
      if (index >= pieces.length) resolve();
      else if (hasRoom) timer = setTimeout(step, Math.ceil(started + writes * delayMs - now));
      else (response.socket ?? response).once("drain", step);
    };
    let timer: NodeJS.Timeout | undefined;
    reader.wake = () => {
      clearTimeout(timer);
      resolve();
    };
    step();
  });
}

function drained(response: ServerResponse, reader: Reader): Promise<void> {
  if (reader.hasLeft) return Promise.resolve();
  const target = response.socket ?? response;
  return new Promise((resolve) => {
    target.once("drain", resolve);
    reader.wake = resolve;
  });
}

function pause(ms: number, reader: Reader): Promise<void> {
  if (reader.hasLeft) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    reader.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

async function end(response: ServerResponse, ending: Plan["ending"], reader: Reader): Promise<void> {
  if (ending === "end") {
    response.end();
    return;
  }
  if (ending === "stall") return;
  if (ending === "close" || ending === "reset") {
    // What was written must have left before the connection goes.
    await new Promise<void>((resolve) => void (response.socket ?? response).write("", () => resolve()));
    if (ending === "close") response.socket?.destroy();
    else response.socket?.resetAndDestroy();
    return;
  }
  while (!reader.hasLeft) {
    await pause(ending.everyMs, reader);
    if (!reader.hasLeft && !response.write(ending.ping)) await drained(response, reader);
  }
}

/** Writes some pieces as one chunk. Says whether there is room for more. */
type WritePieces = (pieces: Pieces, from: number, upTo: number) => boolean;

/** For a response whose headers are written: what is the same for all its pieces is asked once. */
function piecesWriter(response: ServerResponse): WritePieces {
  const socket = response.chunkedEncoding ? response.socket : null;
  return (pieces, from, upTo) => {
    const piece = upTo - from === 1 ? (pieces.at(from) ?? "") : joined(pieces, from, Math.min(upTo, pieces.length));
    if (socket === null || typeof piece !== "string" || piece === "") return response.write(piece);
    const size = Buffer.byteLength(piece);
    // In one string: the response would send the frame of a chunk as three, which takes twice as long. Where it is ASCII
    // both encodings are the same bytes, and latin1 is only copied.
    return socket.write(`${size.toString(16)}\r\n${piece}\r\n`, size === piece.length ? "latin1" : "utf8");
  };
}

function joined(pieces: Pieces, from: number, upTo: number): string | Buffer {
  let text = "";
  for (let index = from; index < upTo; index += 1) {
    const piece = pieces.at(index) ?? "";
    if (typeof piece !== "string") return bytesOf(pieces, from, upTo);
    text += piece;
  }
  return text;
}

function bytesOf(pieces: Pieces, from: number, upTo: number): Buffer {
  return Buffer.concat(Array.from({ length: upTo - from }, (_, index) => Buffer.from(pieces.at(from + index) ?? "")));
}
