import type { IncomingMessage } from "node:http";

/** As much as the Messages API takes. */
const maxBodyBytes = 32 * 1024 * 1024;

/** The body as text; undefined when it is too large, or its sender has left. */
export function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
      else chunks.length = 0;
    });
    request.on("end", () => resolve(size > maxBodyBytes ? undefined : Buffer.concat(chunks, size).toString("utf8")));
    // Without one the server would end with the request; `close` comes after it.
    request.on("error", () => undefined);
    request.on("close", () => resolve(undefined));
  });
}
