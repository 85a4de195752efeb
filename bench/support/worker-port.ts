import { MessagePort, workerData } from "node:worker_threads";

/** The message port passed to this worker thread. */
export function workerPort(): MessagePort {
  const { port } = workerData as { readonly port: unknown };
  if (port instanceof MessagePort) return port;
  throw new Error("this thread was given no port");
}
