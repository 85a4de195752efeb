import { pipeline, type Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** We ask for no encoding, yet some proxies choose one. */
export function decoded(source: Readable, encoding: string | null | undefined): Readable {
  const decoder = decoderFor(encoding?.trim().toLowerCase() ?? "");
  if (decoder === undefined) return source;
  // What breaks is told by the decoder's own error.
  return pipeline(source, decoder, () => undefined);
}

/** Every piece is passed on as it comes: an event must not wait for the next one. */
function decoderFor(encoding: string) {
  const { Z_SYNC_FLUSH: flush, BROTLI_OPERATION_FLUSH } = constants;
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip({ flush });
  if (encoding === "deflate") return createInflate({ flush });
  return encoding === "br" ? createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH }) : undefined;
}
