import type { Socket } from "node:net";
import type { buildConnector } from "undici";

type Connector = ReturnType<typeof buildConnector>;

/**
 * Connects to a proxy and detects one that accepts a connection but sends nothing. Otherwise the client would reconnect
 * thousands of times a second, or wait forever.
 */
export function proxyConnector(connect: Connector, timeoutMs: number): Connector {
  let failure: Error | undefined;
  return (options, callback) => {
    if (failure !== undefined) {
      // Fail the pending request; later ones try again.
      callback(failure, null);
      failure = undefined;
      return;
    }
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null && socket !== null) watch(socket, timeoutMs, (silence) => (failure = silence));
      callback(...result);
    });
  };
}

function watch(socket: Socket, timeoutMs: number, onSilent: (error: Error) => void): void {
  let code = "ECONNRESET";
  const timer = setTimeout(() => {
    if (socket.bytesRead > 0) return;
    code = "ETIMEDOUT";
    socket.destroy();
  }, timeoutMs);
  socket.once("close", () => {
    clearTimeout(timer);
    if (socket.bytesRead === 0) onSilent(Object.assign(new Error("the proxy did not answer"), { code }));
  });
}
