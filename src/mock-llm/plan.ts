import type { Answer } from "./answer.js";
import type { MockFault } from "./script.js";

/** An array, or an object that builds each piece on demand. */
export interface Pieces {
  readonly length: number;
  at(index: number): string | Buffer | undefined;
}

/** The pieces to write, and how the response ends. */
export interface Plan {
  readonly pieces: Pieces;
  readonly ending: "end" | "close" | "reset" | "stall" | { readonly ping: string; readonly everyMs: number };
}

const defaultPingMs = 1_000;
/** Neither JSON, nor an event, nor valid UTF-8. */
const garbage = Buffer.concat([Buffer.from("<html>\u0000<body>\n\n}{"), Buffer.from([0xff, 0xfe, 0xc3, 0x28])]);

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
