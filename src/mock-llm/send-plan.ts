import type { ServerResponse } from "node:http";
import type { Answer } from "./answer.js";
import type { MockFault } from "./script.js";

const defaultPingMs = 1_000;

/** Neither JSON, nor an event, nor valid UTF-8. */
const garbage = Buffer.concat([Buffer.from("<html>\u0000<body>\n\n}{"), Buffer.from([0xff, 0xfe, 0xc3, 0x28])]);

export interface Pace {
  /** The delay between two writes; 0: no delay. */
  readonly delayMs: number;
  /** The number of pieces per write. */
  readonly perWrite: number;
}

/**
 * Tracks whether the client is still connected. A plain object, because an AbortSignal for each of a thousand streams
 * costs more than the writes.
 */
interface Reader {
  hasLeft: boolean;
  /** Ends the current wait. */
  wake: () => void;
}

/** Writes a plan as fast as its pace and its client allow. Ends early if the client disconnects. */
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
 * Piece n is due n delays after the start: late timers are compensated, so the stream as a whole is never late. Uses
 * one promise for all pieces, because with one for each, waiting would cost as much as building and writing a piece.
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
    // Flush the written data before closing the connection.
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

/** Writes some pieces as one chunk. Returns whether there is room for more. */
type WritePieces = (pieces: Pieces, from: number, upTo: number) => boolean;

/**
 * Creates a writer for a response whose headers are written; looks up the properties that all pieces share only once.
 */
function piecesWriter(response: ServerResponse): WritePieces {
  const socket = response.chunkedEncoding ? response.socket : null;
  return (pieces, from, upTo) => {
    const piece = upTo - from === 1 ? (pieces.at(from) ?? "") : joined(pieces, from, Math.min(upTo, pieces.length));
    if (socket === null || typeof piece !== "string" || piece === "") return response.write(piece);
    const size = Buffer.byteLength(piece);
    // Written as one string: the response would write the frame of a chunk in three parts, which takes twice as long.
    // For ASCII both encodings give the same bytes, and latin1 only needs a copy.
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

/** An array, or an object that builds each piece on demand. */
interface Pieces {
  readonly length: number;
  at(index: number): string | Buffer | undefined;
}

/** The pieces to write, and how the response ends. */
export interface Plan {
  readonly pieces: Pieces;
  readonly ending: "end" | "close" | "reset" | "stall" | { readonly ping: string; readonly everyMs: number };
}

/** Faults that occur in the body. */
export type StreamFault = Exclude<MockFault, { type: "status" | "overflow" }>;

export function planOf(
  answer: Answer,
  fault: StreamFault | undefined,
  texts: {
    readonly ping: string;
    errorEvent(fault: Extract<MockFault, { type: "error_event" }>, sent: string): string;
  },
): Plan {
  if (fault === undefined) return { pieces: whenDue(answer), ending: "end" };
  const { tail, terminal } = answer;
  const steps = Array.from({ length: answer.steps.length }, (_, index) => answer.steps.at(index) ?? "");
  const whole = [...steps, tail + terminal];
  switch (fault.type) {
    case "cut":
      return { pieces: [...steps, tail], ending: "end" };
    case "duplicate_terminal":
      return { pieces: [...steps, tail + terminal + terminal], ending: "end" };
    case "disconnect":
      return { pieces: firstBytes(fault.afterBytes, whole), ending: fault.reset === true ? "reset" : "close" };
    case "stall":
      return { pieces: firstBytes(fault.afterBytes ?? 0, whole), ending: "stall" };
    case "ping_only":
      return { pieces: [texts.ping], ending: { ping: texts.ping, everyMs: fault.everyMs ?? defaultPingMs } };
    case "error_event": {
      const sent = steps.slice(0, fault.afterDeltas ?? 0);
      return { pieces: [...sent, texts.errorEvent(fault, sent.join(""))], ending: "end" };
    }
    default: {
      if (fault.as !== "event") return { pieces: [garbage], ending: "end" };
      const middle = Math.ceil(steps.length / 2);
      return { pieces: whole.toSpliced(middle, 0, "data: {not json\n\n"), ending: "end" };
    }
  }
}

function whenDue({ steps, tail, terminal }: Answer): Pieces {
  return { length: steps.length + 1, at: (index) => (index < steps.length ? steps.at(index) : tail + terminal) };
}

/** The first bytes of all pieces together. */
function firstBytes(bytes: number, pieces: readonly string[]): Buffer[] {
  const cut: Buffer[] = [];
  let left = bytes;
  for (const piece of pieces) {
    if (left <= 0) break;
    const buffer = Buffer.from(piece).subarray(0, left);
    cut.push(buffer);
    left -= buffer.length;
  }
  return cut;
}
