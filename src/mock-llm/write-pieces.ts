import type { ServerResponse } from "node:http";
import type { Pieces } from "./plan.js";

/** Writes some pieces as one chunk. Says whether there is room for more. */
export type WritePieces = (pieces: Pieces, from: number, upTo: number) => boolean;

/** For a response whose headers are written: what is the same for all its pieces is asked once. */
export function piecesWriter(response: ServerResponse): WritePieces {
  const socket = response.chunkedEncoding ? response.socket : null;
  return (pieces, from, upTo) => {
    const piece = upTo - from === 1 ? (pieces.at(from) ?? "") : joined(pieces, from, Math.min(upTo, pieces.length));
    if (socket === null || typeof piece !== "string" || piece === "") return response.write(piece);
    const size = Buffer.byteLength(piece);
    // In one string: the response would send the frame of a chunk as three, which takes twice as long. Where it is ASCII
    // both encodings are the same bytes, and latin1 is only copied.
    return socket.write(`${size.toString(16)}\r\n${piece}\r\n`, size === piece.length ? "latin1" : "utf8");
  };
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
