import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { ShardNotice } from "../../messages/actors/shard.js";
import { entryUrl } from "../../workers/entry-url.js";
import { threadArguments } from "../../workers/same-build.js";
import type { ManagerOptions } from "../conversation/open/manager-options.js";
import { serveRef } from "../runtime/port-ref.js";
import type { ShardMemory } from "./shared-memory.js";

/** The manager's options that are plain data. */
type ShardOptions = Pick<ManagerOptions, "home" | "cwd" | "config" | "env" | "retry" | "rules" | "source">;

/** The actors of the main thread that a shard reaches, each through its own port. */
const services = ["limits", "credentials", "knowledge", "mcp", "compactor", "pool"] as const;
export type Service = (typeof services)[number];

/** The `workerData` of a shard. */
export interface ShardStart {
  /** The name of the thread. */
  readonly name: string;
  readonly options: ShardOptions;
  /** The URL of a module with providers, tools and a tokenizer for this thread. */
  readonly setup: string | undefined;
  readonly memory: SharedArrayBuffer;
  /** Providers whose requests have to wait for the limits. */
  readonly limited: readonly string[];
  /** Secrets that are known besides those in the environment and the configuration. */
  readonly secrets: readonly string[];
  readonly control: MessagePort;
  readonly ports: Readonly<Record<Service, MessagePort>>;
}

/** Messages of the main thread, besides those on the ports. The port to the writer is the only one that is not data. */
export type ToShard = ShardNotice | { readonly type: "writer_port"; readonly port: MessagePort };

interface ShardRequest {
  readonly name: string;
  readonly options: ManagerOptions;
  readonly control: MessagePort;
  readonly memory: ShardMemory;
  /** The actors of this thread that the shard reaches. */
  readonly refs: Readonly<Record<Service, Parameters<typeof serveRef>[0]>>;
  readonly limited: readonly string[];
  readonly secrets: readonly string[];
}

/** Starts a thread that hosts conversations, with a port to each actor that it needs. */
export function startShard({ name, options, control, memory, refs, limited, secrets }: ShardRequest): Worker {
  const { home, cwd, config, env = {}, retry, rules, source, setup, threadHeapMb } = options;
  const ports: Partial<Record<Service, MessagePort>> = {};
  for (const service of services) {
    const { port1, port2 } = new MessageChannel();
    serveRef(refs[service], port1);
    port1.unref();
    ports[service] = port2;
  }
  const start: ShardStart = {
    name,
    options: {
      ...(home === undefined ? {} : { home }),
      cwd: cwd ?? process.cwd(),
      ...(config === undefined ? {} : { config }),
      env: { ...env },
      ...(retry === undefined ? {} : { retry }),
      ...(rules === undefined ? {} : { rules }),
      ...(source === undefined ? {} : { source }),
    },
    setup: setup?.href,
    memory: memory.buffer,
    limited,
    secrets,
    control,
    ports: ports as ShardStart["ports"],
  };
  return new Worker(entryUrl("shard"), {
    name,
    argv: [...threadArguments],
    workerData: start,
    transferList: [control, ...Object.values(ports)],
    // Threads do not inherit the flags of the process: with `--input-type` none would start.
    execArgv: [],
    // A descriptor that was passed to a socket is closed by the socket. Node would close its number again at the end of
    // the thread, when it may be a file of another thread.
    trackUnmanagedFds: false,
    ...(threadHeapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: threadHeapMb } }),
  });
}
