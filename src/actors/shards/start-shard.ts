import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { entryUrl } from "../../workers/entry-url.js";
import type { ManagerOptions } from "../conversation/open/manager-options.js";
import { serveRef } from "../runtime/port-ref.js";
import { type Service, services, type ShardStart } from "./shard-thread.js";
import type { ShardMemory } from "./shared-memory.js";

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
  const { home, cwd, config, env = {}, retry, source, setup, threadHeapMb } = options;
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
