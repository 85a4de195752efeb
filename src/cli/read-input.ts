import { addAbortSignal, type Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { maxInputChars } from "../messages/user-input.js";
import { usageError } from "./command-error.js";
import type { Input } from "./terminal.js";

/** All of the input as one text, without the line break at its very end, which the shell puts there. */
export async function readAll(input: Input, signal: AbortSignal): Promise<string> {
  let text = "";
  for await (const piece of pieces(input, signal)) text = bounded(text + piece);
  return text.replace(/\r?\n$/, "");
}

/** The input line by line, each as soon as it is whole; nothing is read while a line is being worked on. */
export async function* readLines(input: Input, signal: AbortSignal): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of pieces(input, signal)) {
    const lines = (rest + piece).split("\n");
    rest = bounded(lines.pop() ?? "");
    for (const line of lines) yield bounded(line.replace(/\r$/, ""));
  }
  if (rest !== "") yield rest;
}

/** Ends quietly when the signal is aborted. */
async function* pieces(input: Input, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  try {
    for await (const chunk of addAbortSignal(signal, input as Readable)) {
      yield typeof chunk === "string" ? chunk : decoder.write(chunk as Buffer);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (!signal.aborted) yield decoder.end();
}

function bounded(text: string): string {
  if (text.length <= maxInputChars) return text;
  throw usageError(`The input is too long: a message may have at most ${maxInputChars} characters`);
}
