import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Cli, CliResult } from "../support/cli.js";

export type FaultyCall = "write" | "fdatasync" | "fsync" | "open" | "rename";

/** A fault injected into a disk call; see `io-fault.c`. */
export interface IoFault {
  /** Part of the path that the call is about. */
  readonly match: string;
  readonly call: FaultyCall;
  readonly nth: number;
  readonly kind: "EIO" | "ENOSPC" | "EDQUOT" | "EMFILE" | "short" | "tear" | "kill" | "killafter";
  /** Also fails every later call of this kind. */
  readonly stays?: boolean;
}

export interface FaultyResult extends CliResult {
  /** False if the run made fewer calls: writes that are queued together are combined. */
  readonly isHit: boolean;
}

const source = fileURLToPath(new URL("io-fault.c", import.meta.url));

/** Runs the command line with a library between it and the disk. */
export class FaultyCli {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Fails without a C compiler. */
  static async compile(): Promise<FaultyCli> {
    const faulty = new FaultyCli(await mkdtemp(join(tmpdir(), "cody-fault-")));
    await promisify(execFile)("cc", [
      "-shared",
      "-fPIC",
      "-O1",
      "-Wall",
      "-Werror",
      "-o",
      faulty.#library,
      source,
      "-ldl",
    ]);
    return faulty;
  }

  async run(cli: Cli, args: readonly string[], fault: IoFault): Promise<FaultyResult> {
    const { match, call, nth, kind, stays = false } = fault;
    const env = { FAULT_CALL: call, FAULT_NTH: String(nth), FAULT_KIND: kind, ...(stays ? { FAULT_STAYS: "1" } : {}) };
    const { counts, ...result } = await this.#watched(cli, args, match, env);
    return { ...result, isHit: (counts.get(call) ?? 0) >= nth };
  }

  /** How often a command makes this call on matching paths when nothing fails. */
  async count(cli: Cli, args: readonly string[], match: string, call: FaultyCall): Promise<number> {
    const { counts } = await this.#watched(cli, args, match, {});
    return counts.get(call) ?? 0;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #library(): string {
    return join(this.#folder, "io-fault.so");
  }

  async #watched(
    cli: Cli,
    args: readonly string[],
    match: string,
    fault: Readonly<Record<string, string>>,
  ): Promise<CliResult & { readonly counts: ReadonlyMap<string, number> }> {
    const log = join(this.#folder, "calls");
    await writeFile(log, "");
    const env = { LD_PRELOAD: this.#library, FAULT_MATCH: match, FAULT_LOG: log, ...fault };
    const result = await cli.run(args, { env });
    const counts = new Map<string, number>();
    for (const name of (await readFile(log, "utf8")).split("\n")) counts.set(name, (counts.get(name) ?? 0) + 1);
    return { ...result, counts };
  }
}
