import type { Readable } from "node:stream";

/** This much is read at full speed; afterwards there is a pause after each burst. */
const freeBytes = 4 * 1024 * 1024;
const burstBytes = 1024 * 1024;
const pauseMs = 10;

/** The minimum that a chunk counts for: many small chunks are as much work as a few large ones. */
const minChunkBytes = 8 * 1024;

/**
 * Reads to the end; resolves when the stream is closed for any reason. A command with endless output must not block
 * this thread, so it is slowed down as if by a slow terminal.
 */
export function readThrottled(stream: Readable, onBytes: (bytes: Buffer) => void): Promise<void> {
  let untilPause = freeBytes;
  let pause: NodeJS.Timeout | undefined;
  stream.on("data", (bytes: Buffer) => {
    onBytes(bytes);
    untilPause -= Math.max(bytes.length, minChunkBytes);
    if (untilPause > 0) return;
    untilPause = burstBytes;
    stream.pause();
    pause = setTimeout(() => stream.resume(), pauseMs);
  });
  // A command without output may have ended before it is read, and `close` is emitted only once.
  if (stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("close", () => {
      clearTimeout(pause);
      resolve();
    });
  });
}
