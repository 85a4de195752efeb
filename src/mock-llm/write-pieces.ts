import type { ServerResponse } from "node:http";
import type { Pieces } from "./plan.js";

/** Writes some of the pieces as one chunk. Says whether there is room for more. */
export function writePieces(response: ServerResponse, pieces: Pieces, from: number, upTo: number): boolean {
  const piece = upTo - from === 1 ? (pieces.at(from) ?? "") : joined(pieces, from, Math.min(upTo, pieces.length));
  const { socket } = response;
  // In one string: the response would send the frame of a chunk as three, which takes twice as long.
  if (typeof piece !== "string" || piece === "" || !response.chunkedEncoding || socket === null)
    return response.write(piece);
  const size = Buffer.byteLength(piece);
  // Where it is ASCII both encodings are the same bytes, and this one is only copied.
  return socket.write(`${size.toString(16)}\r\n${piece}\r\n`, size === piece.length ? "latin1" : "utf8");
}

function joined(pieces: Pieces, from: number, upTo: number): string | Buffer {
  let text = "";
  for (let index = from; index < upTo; index += 1) {
    const piece = pieces.at(index) ?? "";
    if (typeof piece !== "string") return bytesOf(pieces, from, upTo);
    text += piece;
  }
  return text;
}

function bytesOf(pieces: Pieces, from: number, upTo: number): Buffer {
  return Buffer.concat(Array.from({ length: upTo - from }, (_, index) => Buffer.from(pieces.at(from + index) ?? "")));
}
