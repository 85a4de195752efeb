import type { Transferable } from "node:worker_threads";
import type { Endpoint } from "comlink";

/** The part of a `MessagePort` or a `Worker` that Comlink needs. */
interface Messenger {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
  on(event: "message", listener: (data: unknown) => void): unknown;
  off(event: "message", listener: (data: unknown) => void): unknown;
}

type Listener = Parameters<Endpoint["addEventListener"]>[1];

/** Adapts a port to Comlink. Comlink's own adapter for Node has no types that our compiler settings accept. */
export function comlinkEndpoint(messenger: Messenger): Endpoint {
  const receivers = new Map<Listener, (data: unknown) => void>();
  return {
    postMessage: (message: unknown, transfer: Transferable[] = []) => messenger.postMessage(message, transfer),
    addEventListener: (_type, listener) => {
      const receive = (data: unknown): void => callListener(listener, { data });
      receivers.set(listener, receive);
      messenger.on("message", receive);
    },
    removeEventListener: (_type, listener) => {
      const receive = receivers.get(listener);
      if (receive !== undefined) messenger.off("message", receive);
      receivers.delete(listener);
    },
  };
}

function callListener(listener: unknown, event: { readonly data: unknown }): void {
  if (typeof listener === "function") listener(event);
}
