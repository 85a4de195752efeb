import type { Socket } from "node:net";
import type { buildConnector } from "undici";

type Connector = ReturnType<typeof buildConnector>;

/**
 * A connector to a proxy that notices when it takes a connection and says nothing: the client would connect again at
 * once, thousands of times a second, or wait for ever.
 */
export function proxyConnector(connect: Connector, timeoutMs: number): Connector {
  let failure: Error | undefined;
  return (options, callback) => {
    if (failure !== undefined) {
      // Told to those who wait; whoever comes later tries anew.
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
