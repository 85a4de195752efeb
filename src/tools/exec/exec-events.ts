import type { ToolContext } from "../tool.js";

/** How much output of one call is reported while it runs: enough for a person to watch, not enough to fill a queue. */
export const maxDeltaBytes = 128 * 1024;
export const maxDeltas = 10_000;

/** Emits the events of one command: its beginning, its output as it arrives, and its end. */
export class ExecEvents {
  readonly #context: Pick<ToolContext, "callId" | "turnId" | "emit">;
  #bytesLeft = maxDeltaBytes;
  #deltasLeft = maxDeltas;

  constructor(context: Pick<ToolContext, "callId" | "turnId" | "emit">) {
    this.#context = context;
  }

  begin(argv: readonly string[], cwd: string): void {
    const { callId: call_id, turnId: turn_id } = this.#context;
    this.#context.emit({ type: "exec_command_begin", call_id, turn_id, command: [...argv], cwd });
  }

  output(stream: "stdout" | "stderr", bytes: Buffer): void {
    if (this.#bytesLeft === 0 || this.#deltasLeft === 0) return;
    const reported = bytes.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= reported.length;
    this.#deltasLeft -= 1;
    const chunk = reported.toString("base64");
    this.#context.emit({ type: "exec_command_output_delta", call_id: this.#context.callId, stream, chunk });
  }

  end(outcome: { stdout: string; stderr: string; exitCode: number; durationMs: number }): void {
    const { stdout, stderr, exitCode, durationMs } = outcome;
    const secs = Math.floor(durationMs / 1_000);
    const nanos = Math.floor((durationMs - secs * 1_000) * 1_000_000);
    this.#context.emit({
      type: "exec_command_end",
      call_id: this.#context.callId,
      stdout,
      stderr,
      exit_code: exitCode,
      duration: { secs, nanos },
    });
  }
}
