import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openOwnerSocket, type OwnerSocket } from "../../../src/actors/rollout-writer/rollout-locks.js";
import { RolloutWriter, type WriterSession } from "../../../src/actors/rollout-writer/rollout-writer.js";
import type {
  LockOwner,
  OpenOutcome,
  RolloutWriterAnswers,
  RolloutWriterOp,
  RolloutWriterEvent,
  SaveOutcome,
} from "../../../src/messages/actors/rollout-writer.js";
import { nodeFileSystem, type FileSystem } from "../../../src/rollouts/file/file-system.js";

type Extra = Partial<Omit<Extract<RolloutWriterOp, { type: "open" }>, "type" | "conversationId">>;

/** Starts writers in this thread, in a temporary directory. */
export class WriterHarness {
  readonly directory = mkdtempSync(join(tmpdir(), "cody-writer-"));
  readonly events: RolloutWriterEvent[] = [];
  readonly #writers: RolloutWriter[] = [];
  readonly #listeners = new Set<(event: RolloutWriterEvent) => void>();
  #socket: OwnerSocket | undefined;

  async start(fileSystem: FileSystem = nodeFileSystem, openFiles?: number): Promise<Writer> {
    this.#socket ??= await openOwnerSocket(this.directory);
    const writer = new RolloutWriter(fileSystem, openFiles);
    this.#writers.push(writer);
    const { owner } = this.#socket;
    const onEvent = (event: RolloutWriterEvent): void => {
      this.events.push(event);
      for (const listener of this.#listeners) listener(event);
    };
    return new Writer({ writer, owner, directory: this.directory, onEvent });
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

interface WriterOptions {
  readonly writer: RolloutWriter;
  readonly owner: LockOwner;
  readonly directory: string;
  readonly onEvent: (event: RolloutWriterEvent) => void;
}

/** One client of a writer. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #session: WriterSession;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#session = options.writer.connect(options.onEvent);
  }

  connectAnother(): Writer {
    return new Writer(this.#options);
  }

  end(): Promise<void> {
    return this.#session.end();
  }

  open(id: string, mode: "create" | "append" = "create", extra: Extra = {}): Promise<OpenOutcome> {
    const { owner, directory } = this.#options;
    const path = join(directory, `${id}.jsonl`);
    return this.#ask({ type: "open", conversationId: id, path, owner, mode, ...extra });
  }

  async append(id: string, ...lines: string[]): Promise<void> {
    await this.#session.handle({ type: "append", conversationId: id, lines, sync: true });
  }

  /** Appends lines that no caller waits for. */
  async write(id: string, ...lines: string[]): Promise<void> {
    await this.#session.handle({ type: "append", conversationId: id, lines, sync: false });
  }

  flush(id: string): Promise<SaveOutcome> {
    return this.#ask({ type: "flush", conversationId: id });
  }

  close(id: string): Promise<SaveOutcome> {
    return this.#ask({ type: "close", conversationId: id });
  }

  async #ask<T extends keyof RolloutWriterAnswers>(
    op: Extract<RolloutWriterOp, { type: T }>,
  ): Promise<RolloutWriterAnswers[T]> {
    return (await this.#session.handle(op)) as RolloutWriterAnswers[T];
  }
}

export function line(text: string | number): string {
  return `{"type":"line","text":"${text}"}\n`;
}
