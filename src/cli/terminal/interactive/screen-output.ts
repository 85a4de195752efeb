import { Writable } from "node:stream";
import { harmless } from "../../../base/text/harmless.js";
import { type Diagnostics, openDiagnostics } from "../../diagnostics.js";
import type { CommandContext } from "../../context.js";
import type { Output } from "../output.js";
import type { Terminal } from "../terminal.js";

/** Where the output of commands goes: to the streams of the process, or into the transcript of the screen. */
interface OutputSink {
  readonly columns: number;
  print(lines: readonly string[], stream: "stdout" | "stderr"): void;
}

/** Whether the interactive screen can be drawn: on a terminal with control sequences, by a process of its own. */
export function mayHaveScreen({ terminal, flags }: CommandContext): boolean {
  const { stdin, stdout, env, job } = terminal;
  return stdin.isTTY === true && stdout.isTTY && !flags.json && job !== undefined && env["TERM"] !== "dumb";
}

/** A context whose commands print into the transcript while there is a screen. */
export class ScreenContext<Context extends CommandContext> {
  readonly context: Context;
  /** The terminal of the process, for the screen itself. */
  readonly real: Terminal;
  readonly #diagnostics: Diagnostics;
  #sink: OutputSink | undefined;

  constructor(context: Context) {
    const sink = (): OutputSink | undefined => this.#sink;
    const terminal: Terminal = Object.create(context.terminal, {
      stdout: { value: redirected("stdout", () => context.terminal.stdout, sink) },
      stderr: { value: redirected("stderr", () => context.terminal.stderr, sink) },
    });
    this.#diagnostics = openDiagnostics(terminal, context.home);
    this.real = context.terminal;
    this.context = { ...context, ...this.#diagnostics, terminal };
  }

  /** From now on, output goes there; undefined for the streams. */
  redirect(sink: OutputSink | undefined): void {
    this.#sink = sink;
  }

  async close(): Promise<void> {
    this.#sink = undefined;
    await this.#diagnostics.close();
  }
}

/** Prints whole lines. Text without a line break waits for its end. */
function redirected(stream: "stdout" | "stderr", real: () => Output, sink: () => OutputSink | undefined): Output {
  let rest = "";
  const write = async (text: string): Promise<void> => {
    const target = sink();
    if (target === undefined) return await real().write(text);
    const lines = (rest + harmless(text)).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) target.print(lines, stream);
  };
  return {
    // Commands draw nothing that changes.
    get isTTY() {
      return sink() === undefined && real().isTTY;
    },
    get stream() {
      return sink() === undefined ? real().stream : new Writable({ write: (_chunk, _encoding, done) => done() });
    },
    get columns() {
      return sink()?.columns ?? real().columns;
    },
    get closed() {
      return real().closed;
    },
    get failure() {
      return real().failure;
    },
    write,
    writeExact: (text) => (sink() === undefined ? real().writeExact(text) : write(text)),
    writeParts: (parts) =>
      sink() === undefined ? real().writeParts(parts) : write(parts.map(({ text }) => text).join("")),
    eraseLine: async () => {
      if (sink() === undefined) await real().eraseLine();
    },
    allowControls: () => real().allowControls(),
    flush: () => real().flush(),
  };
}
