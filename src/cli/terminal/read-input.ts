import { isUtf8 } from "node:buffer";
import { addAbortSignal, type Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { once } from "node:events";
import { maxInputChars } from "../../messages/user-input.js";
import { usageError } from "../command-error.js";
import type { CommandContext, SharedContext } from "../context.js";
import type { Interruption } from "./interruption.js";
import type { Input } from "./terminal.js";

/** The silence on stdin after which a message says what cody is waiting for. */
const silenceMs = 1_000;
/** The most UTF-8 bytes per UTF-16 unit. */
const maxBytesPerChar = 3;

/** Reads all input as one text, without the final line break that the shell adds. */
export async function readAll(input: Input, signal: AbortSignal): Promise<string> {
  let text = "";
  for await (const piece of pieces(input, signal)) text = bounded(text + piece);
  return text.replace(/\r?\n$/, "");
}

/** Reads the input line by line. Nothing is read while the caller works on a line. */
export async function* readLines(input: Input, signal: AbortSignal): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of pieces(input, signal)) {
    const lines = (rest + piece).split("\n");
    rest = bounded(lines.pop() ?? "");
    for (const line of lines) yield bounded(line.replace(/\r$/, ""));
  }
  if (rest !== "") yield rest;
}

/**
 * Appends stdin to the prompt, between `<stdin>` tags, if stdin is a pipe or a regular file and contains text.
 * `--no-stdin` disables this.
 */
export async function withPipedInput(
  context: SharedContext<"noStdin">,
  prompt: string,
  signal: AbortSignal,
): Promise<string> {
  const { flags, terminal } = context;
  if (flags.noStdin === true || !terminal.isStdinPiped) return prompt;
  const piped = await readPiped(context, signal);
  if (piped.trim() === "") return prompt;
  const tag = unusedTag(piped);
  const text = `${prompt}\n\n<${tag}>\n${piped}${piped.endsWith("\n") ? "" : "\n"}</${tag}>`;
  if (text.length > maxInputChars) throw pipedTooLong();
  return text;
}

async function readPiped(context: CommandContext, signal: AbortSignal): Promise<string> {
  const received: Buffer[] = [];
  let bytes = 0;
  let isReported = false;
  const silence = setTimeout(() => {
    isReported = true;
    void context.tell("Reading stdin until it ends, to append it to the message. To skip it, use --no-stdin.");
  }, silenceMs);
  try {
    for await (const chunk of chunks(context.terminal.stdin, signal)) {
      received.push(Buffer.from(chunk));
      bytes += chunk.length;
      if (bytes > maxInputChars * maxBytesPerChar) throw pipedTooLong();
      if (!isReported) silence.refresh();
    }
  } finally {
    clearTimeout(silence);
  }
  const all = Buffer.concat(received);
  if (!signal.aborted && !isUtf8(all))
    await context.tell("stdin is not valid UTF-8: each invalid byte was replaced by U+FFFD.");
  return new TextDecoder().decode(all);
}

function pipedTooLong(): Error {
  return usageError(
    `stdin is too long: a message can have at most ${maxInputChars} characters`,
    "Send only a part of it (for example with head -c 1000000), or name the file in the message instead",
  );
}

/** A tag whose end does not occur in the text, so that the model sees where stdin ends. */
function unusedTag(text: string): string {
  let tag = "stdin";
  for (let number = 2; text.includes(`</${tag}>`); number += 1) tag = `stdin-${number}`;
  return tag;
}

/** Ends without an error when the signal is aborted. */
async function* pieces(input: Input, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  for await (const chunk of chunks(input, signal)) {
    yield typeof chunk === "string" ? chunk : decoder.write(chunk);
  }
  if (!signal.aborted) yield decoder.end();
}

async function* chunks(input: Input, signal: AbortSignal): AsyncGenerator<string | Buffer> {
  try {
    for await (const chunk of addAbortSignal(signal, input as Readable)) yield chunk as string | Buffer;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function bounded(text: string): string {
  if (text.length <= maxInputChars) return text;
  throw usageError(`The input is too long: a message can have at most ${maxInputChars} characters`);
}

/** Reads the first line of stdin, without echo on a terminal. Empty if there is none or the run was interrupted. */
export async function readSecret(context: CommandContext, what: string, interruption: Interruption): Promise<string> {
  const { stdin } = context.terminal;
  if (stdin.isTTY === true) return await typed(context, what, interruption);
  for await (const line of readLines(stdin, interruption.signal)) return line.trim();
  return "";
}

async function typed({ terminal }: CommandContext, what: string, interruption: Interruption): Promise<string> {
  const { createInterface } = await import("node:readline");
  // Discards readline's output, which would echo the secret.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const readline = createInterface({ input: terminal.stdin, output, terminal: true, historySize: 0 });
  readline.once("SIGINT", () => interruption.interrupt());
  const over = new AbortController();
  readline.once("close", () => over.abort());
  try {
    await terminal.stderr.write(`${what} (input is hidden): `);
    const signal = AbortSignal.any([interruption.signal, over.signal]);
    const [line] = (await once(readline, "line", { signal })) as [string];
    return line.trim();
  } catch (error) {
    if (interruption.signal.aborted || over.signal.aborted) return "";
    throw error;
  } finally {
    readline.close();
    await terminal.stderr.write("\n");
  }
}
