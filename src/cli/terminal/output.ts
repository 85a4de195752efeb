import type { Writable } from "node:stream";
import { harmless } from "../../base/text/harmless.js";
import { systemReason } from "../../base/system-error.js";

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** An output stream of a command. */
export interface Output {
  readonly isTTY: boolean;
  readonly stream: OutputStream;
  /** The width of the terminal; undefined for files and pipes, where lines need not be broken. */
  readonly columns: number | undefined;
  /** True when the reader has left, as in `cody list | head -1`. */
  readonly closed: boolean;
  /** The reason that output was lost, unless the reader left. */
  readonly failure: Error | undefined;
  /**
   * Writes text for people, with control characters replaced by visible ones. Resolves when there is room for more.
   * After the reader has left, text is dropped.
   */
  write(text: string): Promise<void>;
  /** Like `write`, for text in parts; marked parts are bold on a terminal. */
  writeParts(parts: readonly TextPart[]): Promise<void>;
  /** Writes data for programs and files byte for byte; on a terminal, control characters are replaced here too. */
  writeExact(text: string): Promise<void>;
  /** Erases the current row of a terminal; does nothing elsewhere. */
  eraseLine(): Promise<void>;
  /** From now on, control characters are written unchanged, also to a terminal. */
  allowControls(): void;
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
const closedPipeCodes = new Set(["EPIPE", "EIO", "ERR_STREAM_DESTROYED", "ECONNRESET"]);

/** The usual width, for terminals that do not report one. */
const defaultColumns = 80;

/** The reported number of columns if it is plausible: some terminals report zero. */
export function reportedColumns({ columns }: Pick<OutputStream, "columns">): number | undefined {
  return columns !== undefined && Number.isInteger(columns) && columns > 0 ? columns : undefined;
}

export function outputTo(stream: OutputStream, env: Readonly<NodeJS.ProcessEnv> = {}): Output {
  const isTTY = stream.isTTY === true;
  let closed = false;
  let failure: Error | undefined;
  let neutralize = harmless;
  const waiting: (() => void)[] = [];
  const finish = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };

  stream.on("drain", finish);
  stream.on("error", (error: NodeJS.ErrnoException) => {
    closed = true;
    if (!closedPipeCodes.has(error.code ?? "")) failure ??= error;
    finish();
  });

  const send = async (text: string): Promise<void> => {
    if (closed || text === "" || stream.write(text)) return;
    await new Promise<void>((resolve) => void waiting.push(resolve));
  };

  return {
    isTTY,
    stream,
    get columns() {
      const reported = reportedColumns(stream);
      if (reported !== undefined || !isTTY) return reported;
      return reportedColumns({ columns: Number(env["COLUMNS"]) }) ?? defaultColumns;
    },
    get closed() {
      return closed;
    },
    get failure() {
      return failure;
    },
    write: (text) => send(neutralize(text)),
    writeExact: (text) => send(isTTY ? neutralize(text) : text),
    writeParts: (parts) =>
      send(parts.map(({ text, isMarked }) => inBold(neutralize(text), isTTY && isMarked === true)).join("")),
    eraseLine: () => send(isTTY ? toFirstColumn + eraseToEnd : ""),
    allowControls: () => {
      neutralize = (text) => text;
    },
    flush: () => new Promise((resolve) => void (closed ? resolve() : stream.write("", () => resolve()))),
  };
}

function inBold(text: string, isBold: boolean): string {
  return isBold ? bold + text + notBold : text;
}

/** The message for output that was lost. */
export function unwritten(failure: Error): string {
  return `Cannot write the output: ${systemReason(failure)}`;
}
