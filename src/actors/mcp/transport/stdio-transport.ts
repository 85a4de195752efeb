import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { errorMessage } from "../../../base/error-message.js";
import { isRecord } from "../../../base/is-record.js";
import { within } from "../../../base/time/waiting.js";
import { eventJson } from "../../../providers/transport/event-json.js";
import { CommandProcess, withGuard, guardDescriptor, readThrottled } from "../../../tools/exec/command-process.js";
import { killSurvivors } from "../../../tools/exec/survivors.js";
import { failureText } from "../../../tools/files/file-problem.js";
import { BoundedLines } from "../../../base/text/bounded-lines.js";

/** Progress and notifications come a few times per second; a server that sends more than this is misbehaving. */
const perMinute = 5_000;

/** Time limits for exiting on its own, and then after SIGTERM and SIGKILL. */
const leaveMs = 500;

const orderMs = 1_000;

const killMs = 2_000;

/** After this time the transport pauses for as long as it has worked, so that others get their turn. */
const sliceMs = 10;

const maxPauseMs = 1_000;

/** Maximum size of one message; a server that sends more is considered broken. */
export const maxMessageBytes = 16 * 1024 * 1024;
/**
 * Maximum number of brackets and commas: a message made only of these would block the event loop for seconds while
 * parsing.
 */
export const maxMessageParts = 200_000;
/** Maximum number of output lines that are not messages; up to here they are ignored. */
const maxStrayLines = 1_000;
/** Time between the exit of a process and the end of its output, in either order. */
const stderrGraceMs = 300;
const invalidMessage = -32_600;

/** Communicates with a server through the pipes of its process. No output of the server can make it throw. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #command: ServerCommand;
  readonly #onStderr: (bytes: Buffer) => void;
  #process: ServerProcess | undefined;
  #closed = false;
  #strayLines = 0;
  readonly #pendingIds = new Set<unknown>();
  readonly #unsolicited = new UnsolicitedMessages();
  /** The reason why the server ended, unless we ended it. */
  reason: string | undefined;

  constructor(command: ServerCommand, onStderr: (bytes: Buffer) => void) {
    this.#command = command;
    this.#onStderr = onStderr;
  }

  async start(): Promise<void> {
    const started = await ServerProcess.start(this.#command);
    this.#process = started;
    const output = this.#listen(started.stdout);
    void readThrottled(started.stderr, (bytes) => this.#onStderr(bytes));
    void this.#watch(started, output);
  }

  /** Resolves at the end of the output. While messages are being processed, no more output is read. */
  async #listen(stdout: Readable): Promise<void> {
    const work: (() => void)[] = [];
    const lines = new BoundedLines(maxMessageBytes, {
      line: (text) => work.push(() => this.#read(text)),
      tooLong: (head, tail) =>
        work.push(() => this.#refuse(`a message is larger than ${maxMessageBytes} bytes`, head, tail)),
    });
    try {
      for await (const bytes of stdout) {
        if (this.#closed) continue;
        lines.push(bytes as Buffer);
        await paced(work.splice(0));
      }
    } catch {
      // A broken pipe ends the output as well.
    }
  }

  /** Output before the exit still counts; a server that only closed its output will send nothing more. */
  async #watch({ exited }: ServerProcess, output: Promise<void>): Promise<void> {
    await Promise.race([exited, output]);
    await within(output, stderrGraceMs);
    const code = (await within(exited, stderrGraceMs)) ? await exited : undefined;
    this.#end(code === undefined ? "it closed its output" : `it exited with code ${code}`);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin;
    if (this.#closed || stdin === undefined || !stdin.writable) throw new Error("the server has exited");
    if ("id" in message && "method" in message) this.#pendingIds.add(message.id);
    if (!stdin.write(`${JSON.stringify(message)}\n`)) {
      await new Promise<void>((resolve) => {
        stdin.once("drain", resolve);
        stdin.once("close", resolve);
      });
    }
  }

  async close(): Promise<void> {
    this.#end(undefined);
    await this.#process?.end();
  }

  #end(reason: string | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.reason = reason;
    void this.#process?.end();
    this.onclose?.();
  }

  #read(text: string): void {
    if (this.#closed) return;
    let message: Record<string, unknown>;
    try {
      message = eventJson(text, maxMessageParts);
    } catch (error) {
      this.#refuse(errorMessage(error), text.slice(0, 256), text.slice(-256));
      return;
    }
    const isAnswer = message["method"] === undefined && this.#pendingIds.delete(message["id"]);
    if (!isAnswer && !this.#unsolicited.add()) return this.#end(this.#unsolicited.reason);
    try {
      this.onmessage?.(answerOf(message) ?? (message as JSONRPCMessage));
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Fails the request that the message answers, if its id can be determined. */
  #refuse(why: string, head: string, tail: string): void {
    const id = idIn(head, tail);
    this.onerror?.(new Error(why));
    if (id !== undefined && !this.#pendingIds.delete(id) && !this.#unsolicited.add())
      return this.#end(this.#unsolicited.reason);
    if (id !== undefined) {
      this.onmessage?.({ jsonrpc: "2.0", id, error: { code: invalidMessage, message: why } });
      return;
    }
    this.#strayLines += 1;
    if (this.#strayLines > maxStrayLines) this.#end("it writes invalid messages to its output");
  }
}

/** Repairs an answer: the library would ignore an invalid one, and its caller would wait for ever. */
function answerOf({ id, method, result, error }: Readonly<Record<string, unknown>>): JSONRPCMessage | undefined {
  if (typeof id !== "number" || method !== undefined) return undefined;
  if (isRecord(result)) return { jsonrpc: "2.0", id, result };
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  const text = typeof message === "string" ? message : "its answer is not a valid result";
  return { jsonrpc: "2.0", id, error: { code: Number.isInteger(code) ? Number(code) : invalidMessage, message: text } };
}

function idIn(head: string, tail: string): number | undefined {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(head) ??
    /,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$/.exec(tail);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

/** Runs the work in order, limited by time and not by the number of bytes. */
export async function paced(work: readonly (() => void)[], now = () => performance.now()): Promise<void> {
  let startedAt = now();
  for (const each of work) {
    each();
    // Promise callbacks of the work count as part of it.
    await Promise.resolve();
    const elapsedMs = now() - startedAt;
    if (elapsedMs < sliceMs) continue;
    await sleep(Math.min(elapsedMs, maxPauseMs), undefined, { ref: false });
    startedAt = now();
  }
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A server's process, with a guard that kills all its descendants when our process ends, however that happens. It does
 * not keep our process alive by itself; a caller waiting for an answer does.
 */
class ServerProcess {
  readonly stdin: Writable;
  readonly #process: CommandProcess;
  readonly #marker: string;
  #ending: Promise<void> | undefined;

  private constructor(stdin: Writable, process: CommandProcess, marker: string) {
    this.stdin = stdin;
    this.#process = process;
    this.#marker = marker;
  }

  static async start({ command, args, cwd, env }: ServerCommand): Promise<ServerProcess> {
    const marker = randomUUID();
    const { file, args: all } = withGuard([command, ...args], marker);
    const child = spawn(file, all, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
    const failure = new Promise<unknown>((resolve) => child.on("error", resolve));
    if (child.pid === undefined) throw new Error(`cannot start in ${cwd}: ${failureText(await failure)}`);
    // Write errors are ignored: the exit of the process is detected elsewhere.
    child.stdin.on("error", () => undefined);
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr, child.stdio[guardDescriptor]]) {
      (pipe as Socket).unref();
    }
    return new ServerProcess(child.stdin, new CommandProcess(child, child.pid, [child.stdout, child.stderr]), marker);
  }

  get stdout(): Readable {
    return this.#process.stdout;
  }

  get stderr(): Readable {
    return this.#process.stderr;
  }

  get exited(): Promise<number> {
    return this.#process.exited;
  }

  /** Resolves when none of its processes is alive; later calls wait for the first. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const process = this.#process;
    // By the protocol, closing stdin asks the server to exit.
    this.stdin.end();
    if (!(await within(process.exited, leaveMs))) {
      process.signalGroup("SIGTERM");
      await within(process.exited, orderMs);
    }
    process.signalGroup("SIGKILL");
    await within(process.exited, killMs);
    await killSurvivors(this.#marker, process.pid);
    this.stdin.destroy();
    process[Symbol.dispose]();
  }
}

/** Counts the messages that a server sends without a request. */
export class UnsolicitedMessages {
  #count = 0;
  #windowStart: number | undefined;
  readonly reason = `it sends more than ${perMinute} unsolicited messages per minute`;

  /** Returns whether the rate is still acceptable. */
  add(now = performance.now()): boolean {
    if (this.#windowStart === undefined || now - this.#windowStart >= 60_000) {
      this.#windowStart = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count <= perMinute;
  }
}
