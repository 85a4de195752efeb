import type { IncomingMessage } from "node:http";

/** As much as the Messages API takes. */
const maxBodyBytes = 32 * 1024 * 1024;

/** The body as text; undefined when it is too large. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > maxBodyBytes ? undefined : Buffer.concat(chunks, size).toString("utf8");
}
