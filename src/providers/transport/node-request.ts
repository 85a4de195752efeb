import type { ClientRequest, IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { FailureError } from "../../messages/failure-error.js";

/** Resolves with the response once its headers have arrived. */
export function answerOf(request: ClientRequest, connectTimeoutMs: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    request.on("error", reject);
    request.on("response", resolve);
    request.on("close", () => clearTimeout(timer));
    // The time spent waiting for a free connection does not count.
    request.on("socket", (socket) => {
      if (!socket.connecting) return;
      timer = setTimeout(() => request.destroy(unconnected(request, connectTimeoutMs)), connectTimeoutMs);
      socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", () => clearTimeout(timer));
    });
  });
}

function unconnected(request: ClientRequest, ms: number): FailureError {
  const message = `cannot connect to ${request.host} within ${Math.round(ms / 100) / 10} s`;
  return new FailureError({ code: "timeout", message, retryable: true });
}
