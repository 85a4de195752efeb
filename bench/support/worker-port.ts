import { MessagePort, workerData } from "node:worker_threads";

/** The port a thread of the benchmark was given. */
export function ownPort(): MessagePort {
  const { port } = workerData as { readonly port: unknown };
  if (port instanceof MessagePort) return port;
  throw new Error("this thread was given no port");
}
