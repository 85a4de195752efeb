import type { MessagePort, Transferable } from "node:worker_threads";
import type * as Comlink from "comlink";

type Listener = Parameters<Comlink.Endpoint["addEventListener"]>[1];

/** Adapts a port to Comlink. Comlink's own adapter for Node has no types that our compiler settings accept. */
export function comlinkEndpoint(port: MessagePort): Comlink.Endpoint {
  const receivers = new Map<Listener, (data: unknown) => void>();
  return {
    postMessage: (message: unknown, transfer: Transferable[] = []) => port.postMessage(message, transfer),
    addEventListener: (_type, listener) => {
      const receive = (data: unknown): void => callListener(listener, { data });
      receivers.set(listener, receive);
      port.on("message", receive);
    },
    removeEventListener: (_type, listener) => {
      const receive = receivers.get(listener);
      if (receive !== undefined) port.off("message", receive);
      receivers.delete(listener);
    },
  };
}

function callListener(listener: unknown, event: { readonly data: unknown }): void {
  if (typeof listener === "function") listener(event);
}
