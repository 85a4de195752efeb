import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openOwnerSocket, type OwnerSocket } from "../../../src/actors/rollout-writer/rollout-locks.js";
import { createRolloutWriter } from "../../../src/actors/rollout-writer/rollout-writer.js";
import type { Ref } from "../../../src/actors/runtime/actor.js";
import { spawn } from "../../../src/actors/runtime/spawn.js";
import type {
  OpenOutcome,
  RolloutWriterAnswers,
  RolloutWriterOp,
  RolloutWriterEvent,
  SaveOutcome,
} from "../../../src/messages/rollout-writer.js";
import { nodeFileSystem, type FileSystem } from "../../../src/rollouts/file/file-system.js";

type Extra = Partial<Omit<Extract<RolloutWriterOp, { type: "open" }>, "type" | "conversationId">>;

/** Starts writers in this thread, in a temporary directory. */
export class WriterHarness {
  readonly directory = mkdtempSync(join(tmpdir(), "cody-writer-"));
  readonly events: RolloutWriterEvent[] = [];
  readonly #writers: Ref<RolloutWriterOp, RolloutWriterAnswers>[] = [];
  readonly #listeners = new Set<(event: RolloutWriterEvent) => void>();
  #socket: OwnerSocket | undefined;

  async start(fileSystem: FileSystem = nodeFileSystem, openFiles?: number): Promise<Writer> {
    this.#socket ??= await openOwnerSocket(this.directory);
    const ref = spawn(createRolloutWriter(fileSystem, openFiles), null, {
      onEvent: ({ msg }) => {
        this.events.push(msg);
        for (const listener of this.#listeners) listener(msg);
      },
    });
    this.#writers.push(ref);
    return new Writer(ref, this.#socket.owner, this.directory);
  }

  /** The next event of this type. */
  next(type: RolloutWriterEvent["type"]): Promise<RolloutWriterEvent> {
    return new Promise((resolve) => {
      const listener = (event: RolloutWriterEvent): void => {
        if (event.type !== type) return;
        this.#listeners.delete(listener);
        resolve(event);
      };
      this.#listeners.add(listener);
    });
  }

  path(id: string): string {
    return join(this.directory, `${id}.jsonl`);
  }

  content(id: string): string {
    return readFileSync(this.path(id), "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.stop()));
    await this.#socket?.close();
    rmSync(this.directory, { recursive: true });
  }
}

export class Writer {
  readonly #ref: Ref<RolloutWriterOp, RolloutWriterAnswers>;
  readonly #owner: OwnerSocket["owner"];
  readonly #directory: string;

  constructor(ref: Ref<RolloutWriterOp, RolloutWriterAnswers>, owner: OwnerSocket["owner"], directory: string) {
    this.#ref = ref;
    this.#owner = owner;
    this.#directory = directory;
  }

  open(id: string, mode: "create" | "append" = "create", extra: Extra = {}): Promise<OpenOutcome> {
    const path = join(this.#directory, `${id}.jsonl`);
    return this.#ref.ask({ type: "open", conversationId: id, path, owner: this.#owner, mode, ...extra });
  }

  append(id: string, ...lines: string[]): Promise<string> {
    return this.#ref.tell({ type: "append", conversationId: id, lines, sync: true });
  }

  /** Appends lines that no caller waits for. */
  write(id: string, ...lines: string[]): Promise<string> {
    return this.#ref.tell({ type: "append", conversationId: id, lines, sync: false });
  }

  flush(id: string): Promise<SaveOutcome> {
    return this.#ref.ask({ type: "flush", conversationId: id });
  }

  close(id: string): Promise<SaveOutcome> {
    return this.#ref.ask({ type: "close", conversationId: id });
  }
}

export function line(text: string | number): string {
  return `{"type":"line","text":"${text}"}\n`;
}
