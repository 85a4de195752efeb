import type { Readable } from "node:stream";

/** So much is read as fast as it comes; later there is a pause after each burst. */
const freeBytes = 4 * 1024 * 1024;
const burstBytes = 1024 * 1024;
const pauseMs = 10;

/** What a chunk counts for at least: many small ones are as much work as a few large ones. */
const minChunkBytes = 8 * 1024;

/**
 * Reads to the end; resolves when the stream is closed, however that came. A command that writes without end must not
 * keep this thread from everything else: it waits, as it would for a slow terminal.
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
  // A command that has written nothing may have ended before anybody reads, and closes but once.
  if (stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("close", () => {
      clearTimeout(pause);
      resolve();
    });
  });
}
