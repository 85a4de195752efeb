/** The number of bytes at the end (0 to 3) that start an incomplete UTF-8 character. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count += 1) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthFrom(byte) > count ? count : 0;
  }
  return 0;
}

/** The number of bytes at the start (0 to 3) that belong to a character begun in an earlier chunk. */
export function leftoverBytes(bytes: Uint8Array): number {
  const end = bytes.subarray(0, 3).findIndex((byte) => !isContinuation(byte));
  return end === -1 ? Math.min(3, bytes.length) : end;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The length of the UTF-8 character that starts with this byte; 1 for bytes that start none. */
function lengthFrom(byte: number): number {
  if (byte >= 0xf0 && byte < 0xf8) return 4;
  if (byte >= 0xe0) return byte < 0xf0 ? 3 : 1;
  return byte >= 0xc0 ? 2 : 1;
}
