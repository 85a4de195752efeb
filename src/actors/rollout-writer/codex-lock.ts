import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { realpath, rm } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { setTimeout } from "node:timers/promises";
import { bareId } from "../../base/text/conversation-id.js";
import { nodeFileSystem } from "../../rollouts/file/file-system.js";
import { messageOf } from "../runtime/failures.js";
import { ConcurrencyLimit } from "./lanes.js";
import { makeDurableDirectory } from "./make-directory.js";

export type CodexLock =
  | { readonly status: "taken"; release(): Promise<void> }
  | { readonly status: "held" }
  /** It is unknown whether Codex is writing. */
  | { readonly status: "unavailable"; readonly reason: string };

export interface CodexLocksOptions {
  readonly codexHome: string;
  /** The `PATH` used to find `flock`. */
  readonly searchPath: string | undefined;
}

const defaultSearchPath = "/usr/local/bin:/usr/bin:/bin";
/** Codex holds the coordination lock only while it opens or removes a writer lock. */
const pollMs = 50;
const maxPolls = 60;

/**
 * Codex's own locks: the writer of a rollout holds `thread-writer-locks/<id>.lock` with flock(2), and
 * `.coordination.lock` while that file is created or removed. Node cannot call flock, so flock(1) does it on a
 * descriptor of ours: the lock belongs to the open file and ends with this process.
 */
export class CodexLocks {
  readonly #directory: string;
  readonly #sessions: string;
  readonly #searchPath: string;
  /** One at a time: all of them would wait for the same lock. */
  readonly #lane = new ConcurrencyLimit(1);

  constructor({ codexHome, searchPath }: CodexLocksOptions) {
    this.#directory = join(codexHome, "thread-writer-locks");
    this.#sessions = join(codexHome, "sessions");
    this.#searchPath = searchPath ?? defaultSearchPath;
  }

  /** Whether Codex could be writing this file, also under another name. */
  async covers(path: string): Promise<boolean> {
    if (path.startsWith(this.#sessions + sep)) return true;
    if (!basename(path).startsWith("rollout-")) return false;
    const [file, sessions] = await Promise.all([path, this.#sessions].map((name) => realpath(name).catch(() => "")));
    return file !== undefined && sessions !== "" && file.startsWith(`${sessions}${sep}`);
  }

  /** Never rejects. */
  take(conversationId: string): Promise<CodexLock> {
    return this.#lane.run(() =>
      this.#take(bareId(conversationId)).catch((error: unknown) => ({
        status: "unavailable",
        reason: messageOf(error),
      })),
    );
  }

  async #take(id: string): Promise<CodexLock> {
    await makeDurableDirectory(nodeFileSystem, this.#directory);
    const coordination = await this.#coordination();
    if (typeof coordination !== "number") return coordination;
    try {
      const path = join(this.#directory, `${id}.lock`);
      const fd = await openLock(path);
      const outcome = await this.#flock(fd);
      if (outcome === "locked") return { status: "taken", release: () => this.#release(fd, path) };
      await nodeFileSystem.close(fd);
      return outcome === "held" ? { status: "held" } : { status: "unavailable", reason: outcome.reason };
    } finally {
      await nodeFileSystem.close(coordination);
    }
  }

  /** The file is removed only under the coordination lock, so that no process locks a file that was just removed. */
  #release(fd: number, path: string): Promise<void> {
    return this.#lane.run(async () => {
      const coordination = await this.#coordination().catch(() => undefined);
      await nodeFileSystem.close(fd).catch(() => undefined);
      if (typeof coordination !== "number") return;
      await rm(path, { force: true }).catch(() => undefined);
      await nodeFileSystem.close(coordination);
    });
  }

  /** Returns a descriptor that holds the coordination lock. */
  async #coordination(): Promise<number | Exclude<CodexLock, { status: "taken" }>> {
    const fd = await openLock(join(this.#directory, ".coordination.lock"));
    let outcome: FlockOutcome = "held";
    for (let polls = 0; outcome === "held" && polls < maxPolls; polls += 1) {
      if (polls > 0) await setTimeout(pollMs);
      outcome = await this.#flock(fd);
    }
    if (outcome === "locked") return fd;
    await nodeFileSystem.close(fd);
    return outcome === "held" ? { status: "held" } : { status: "unavailable", reason: outcome.reason };
  }

  #flock(fd: number): Promise<FlockOutcome> {
    return new Promise((resolve) => {
      const child = spawn("flock", ["-n", "-x", "3"], {
        env: { PATH: this.#searchPath },
        stdio: ["ignore", "ignore", "ignore", fd],
      });
      child.once("error", ({ code, message }: NodeJS.ErrnoException) =>
        resolve({ reason: code === "ENOENT" ? "flock(1) is not installed" : message }),
      );
      child.once("exit", (code) => {
        if (code === 0) resolve("locked");
        else resolve(code === 1 ? "held" : { reason: `flock(1) ended with ${code ?? "a signal"}` });
      });
    });
  }
}

type FlockOutcome = "locked" | "held" | { readonly reason: string };

function openLock(path: string): Promise<number> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  return nodeFileSystem.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
}
