import type { IncomingMessage } from "node:http";
import { decoded } from "./content-encoding.js";
import type { NodeSender, Sending } from "./node-sender.js";
import { readText } from "./read-text.js";
import { maxErrorBytes } from "./stream-bounds.js";

const maxBytes = 32 * 1024 * 1024;
const withoutBody: ReadonlySet<number> = new Set([204, 205]);

/** A `fetch` over node:http for short answers: they are read whole before it resolves. */
export function nodeFetch(sender: NodeSender): typeof fetch {
  return async (input, init) => {
    const { signal } = init ?? {};
    signal?.throwIfAborted();
    const sent = sender.send(sendingOf(input, init));
    const onAbort = (): void => sent.cancel(signal?.reason as Error);
    signal?.addEventListener("abort", onAbort);
    try {
      return await whole(await sent.answer);
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  };
}

async function whole(message: IncomingMessage): Promise<Response> {
  const status = message.statusCode ?? 0;
  const headers = headersOf(message);
  const body = decoded(message, headers.get("content-encoding"));
  const text = await readText(body, status >= 400 ? maxErrorBytes : maxBytes);
  return new Response(withoutBody.has(status) ? null : text, { status, headers });
}

function sendingOf(input: string | URL | Request, init: RequestInit = {}): Sending {
  if (typeof input !== "string" && !(input instanceof URL)) throw new TypeError("fetch wants an address");
  const { body } = init;
  if (body !== undefined && body !== null && typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("fetch sends text or bytes only");
  }
  return {
    url: new URL(input),
    method: init.method ?? "GET",
    headers: Object.fromEntries(init.headers instanceof Headers ? init.headers : new Headers(init.headers)),
    body: () => body ?? undefined,
  };
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  return headers;
}
