import type { Writable } from "node:stream";
import { harmless } from "../messages/harmless.js";
import { systemReason } from "../messages/system-error.js";

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Where a command writes. */
export interface Output {
  readonly isTTY: boolean;
  readonly stream: OutputStream;
  /** Nobody reads any more, as in `cody list | head -1`. */
  readonly closed: boolean;
  /** Why what was written did not arrive, when a reader that left is not the reason. */
  readonly failure: Error | undefined;
  /** Resolves when there is room for more. What nobody reads is dropped. */
  write(text: string): Promise<void>;
  /** The same for a text in pieces; on a terminal those that are marked stand out. */
  writeParts(parts: readonly TextPart[]): Promise<void>;
  /** Takes back what was written since the last line break; on a terminal only, and only what is one row of it. */
  eraseLine(): Promise<void>;
  /** Resolves when everything written has arrived or cannot arrive. */
  flush(): Promise<void>;
}

export interface TextPart {
  readonly text: string;
  readonly isMarked?: boolean;
}

const bold = "\u001b[1m";
const notBold = "\u001b[22m";
const toFirstColumn = "\r";
const eraseToEnd = "\u001b[K";
const readerLeft = new Set(["EPIPE", "EIO", "ERR_STREAM_DESTROYED", "ECONNRESET"]);

export function outputTo(stream: OutputStream): Output {
  const isTTY = stream.isTTY === true;
  let closed = false;
  let failure: Error | undefined;
  const waiting: (() => void)[] = [];
  const goOn = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };

  stream.on("drain", goOn);
  stream.on("error", (error: NodeJS.ErrnoException) => {
    closed = true;
    if (!readerLeft.has(error.code ?? "")) failure ??= error;
    goOn();
  });

  const send = async (text: string): Promise<void> => {
    if (closed || text === "" || stream.write(text)) return;
    await new Promise<void>((resolve) => void waiting.push(resolve));
  };

  return {
    isTTY,
    stream,
    get closed() {
      return closed;
    },
    get failure() {
      return failure;
    },
    write: (text) => send(isTTY ? harmless(text) : text),
    writeParts: (parts) => send(parts.map((part) => (isTTY ? shown(part) : part.text)).join("")),
    eraseLine: () => send(isTTY ? toFirstColumn + eraseToEnd : ""),
    flush: () => new Promise((resolve) => void (closed ? resolve() : stream.write("", () => resolve()))),
  };
}

function shown({ text, isMarked = false }: TextPart): string {
  return isMarked ? bold + harmless(text) + notBold : harmless(text);
}

/** What a person is told when their output did not arrive. */
export function unwritten(failure: Error): string {
  return `The output could not be written: ${systemReason(failure)}`;
}
